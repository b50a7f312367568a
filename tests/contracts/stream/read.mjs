// Reads streams as a strict client of the AI SDK does. One JSON line in per stream, `{"stream", "prev"?}`: the response
// body, and the assistant message that it continues. One line out: `{"errors", "message"}`.
import { createInterface } from 'node:readline';
import { parseJsonEventStream, readUIMessageStream, safeValidateUIMessages, uiMessageChunkSchema } from 'ai';

// Required keys, and optional ones after the bar. Whatever else a chunk carries, some release of the SDK refuses.
const KEYS = {
  start: '| messageId',
  'start-step': '|',
  'text-start': 'id |',
  'text-delta': 'id delta |',
  'text-end': 'id |',
  'reasoning-start': 'id |',
  'reasoning-delta': 'id delta |',
  'reasoning-end': 'id |',
  'tool-input-start': 'toolCallId toolName |',
  'tool-input-delta': 'toolCallId inputTextDelta |',
  'tool-input-available': 'toolCallId toolName input |',
  'tool-input-error': 'toolCallId toolName input errorText |',
  'tool-approval-request': 'approvalId toolCallId |',
  'tool-output-available': 'toolCallId output |',
  'tool-output-error': 'toolCallId errorText |',
  'tool-output-denied': 'toolCallId |',
  'finish-step': '|',
  error: 'errorText |',
  abort: '| reason',
  finish: '| finishReason',
  data: 'data | id transient',
};
const kindOf = (chunk) => (chunk.type.startsWith('data-') ? 'data' : chunk.type);

function frames(body, errors) {
  if (!body.endsWith('\n\n')) errors.push('the last frame is not closed by a blank line');
  const found = [];
  let last = 0;
  for (const block of body.split('\n\n').filter(Boolean)) {
    if (/^:[^\n]*$/.test(block)) continue;
    const frame = /^id: (\d+)\ndata: ([^\n]*)$/.exec(block);
    if (!frame) { errors.push(`not a frame: ${block.slice(0, 80)}`); continue; }
    if (Number(frame[1]) <= last) errors.push(`id ${frame[1]} after ${last}`);
    last = Number(frame[1]);
    found.push(frame[2]);
  }
  if (found.filter((data) => data === '[DONE]').length !== 1 || found.at(-1) !== '[DONE]') errors.push('not exactly one [DONE], at the end');
  return found.filter((data) => data !== '[DONE]');
}

async function chunksOf(body, errors) {
  const chunks = [];
  const stream = new Blob([body]).stream();
  for await (const read of parseJsonEventStream({ stream, schema: uiMessageChunkSchema })) {
    if (read.success) chunks.push(read.value);
    else errors.push(`refused by the SDK: ${JSON.stringify(read.rawValue ?? String(read.error)).slice(0, 200)}`);
  }
  return chunks;
}

function checkKeys(raw, errors) {
  const chunk = JSON.parse(raw);
  const known = KEYS[kindOf(chunk)];
  if (known === undefined) { errors.push(`type ${chunk.type} is none of ours`); return; }
  const [required, optional] = known.split('|').map((names) => names.split(' ').filter(Boolean));
  for (const key of required) if (!(key in chunk)) errors.push(`${chunk.type} has no ${key}`);
  for (const [key, value] of Object.entries(chunk)) {
    if (key !== 'type' && !required.includes(key) && !optional.includes(key)) errors.push(`${chunk.type} has ${key}`);
    if (value === null) errors.push(`${chunk.type}.${key} is null`);
  }
}

// What a call may do in which state; null: not announced yet. `approval-responded` is the client's own note.
const MOVES = {
  'tool-input-start': [[null], 'streaming'],
  'tool-input-delta': [['streaming'], 'streaming'],
  'tool-input-available': [[null, 'streaming', 'asked', 'approval-responded'], 'available'],
  'tool-input-error': [[null, 'streaming'], 'done'],
  'tool-approval-request': [['available', 'input-available'], 'asked'],
  'tool-output-available': [['available', 'input-available', 'approval-responded'], 'done'],
  'tool-output-error': [['available', 'input-available', 'asked', 'approval-requested', 'approval-responded'], 'done'],
  'tool-output-denied': [['asked', 'available', 'input-available', 'approval-requested', 'approval-responded'], 'done'],
};

function checkLife(chunks, prev, errors) {
  const calls = new Map((prev?.parts ?? []).filter((part) => part.toolCallId).map((part) => [part.toolCallId, part.state]));
  const open = new Set();
  let step = false, ended = null;
  if (chunks[0]?.type !== 'start') errors.push('the first chunk is not start');
  if (prev && chunks[0]?.messageId !== undefined && chunks[0].messageId !== prev.id) errors.push('start names another message than the one that goes on');
  chunks.forEach((chunk, index) => {
    const { type } = chunk, at = `chunk ${index + 1} (${type})`;
    if (type === 'start' && index > 0) errors.push(`${at}: a second start`);
    if (ended === 'finish') errors.push(`${at}: after finish`);
    if (ended && !/^finish/.test(type)) errors.push(`${at}: after ${ended}`);
    if (['error', 'abort', 'finish'].includes(type)) ended = type;
    if (type === 'start-step') { if (step) errors.push(`${at}: within a step`); step = true; }
    if (type === 'finish-step') { if (!step) errors.push(`${at}: outside of a step`); step = false; }
    const part = /^(text|reasoning)-(start|delta|end)$/.exec(type);
    if (part) {
      const name = `${part[1]} ${chunk.id}`;
      if (open.has(name) === (part[2] === 'start')) errors.push(`${at}: ${name} is ${open.has(name) ? '' : 'not '}open`);
      if (part[2] === 'start') open.add(name);
      if (part[2] === 'end') open.delete(name);
    }
    if (MOVES[type]) {
      const [from, to] = MOVES[type], state = calls.get(chunk.toolCallId) ?? null;
      if (!from.includes(state)) errors.push(`${at}: the call is ${state}`);
      calls.set(chunk.toolCallId, to);
    }
  });
  if (ended !== 'finish') errors.push('no finish');
  if (open.size) errors.push(`never ended: ${[...open]}`);
  if (chunks.some((chunk) => chunk.type === 'error' || chunk.type === 'abort')) return;
  if (step) errors.push('a step never finished');
  for (const [id, state] of calls) if (['streaming', 'approval-responded'].includes(state)) errors.push(`call ${id} is left ${state}`);
}

async function assembled(chunks, prev, errors) {
  let message;
  const stream = new ReadableStream({ start(to) { chunks.forEach((chunk) => to.enqueue(chunk)); to.close(); } });
  const said = chunks.filter((chunk) => chunk.type === 'error').map((chunk) => chunk.errorText);
  const onError = (error) => { if (!said.includes(error.message)) errors.push(`the SDK stumbles: ${error.message}`); };
  for await (const state of readUIMessageStream({ stream, message: prev, onError })) message = state;
  if (message?.id) {
    const valid = await safeValidateUIMessages({ messages: [message] });
    if (!valid.success) errors.push(`not a UI message: ${valid.error.message.slice(0, 300)}`);
  }
  return message;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { stream, prev } = JSON.parse(line);
  const errors = [];
  let message;
  try {
    frames(stream, errors).forEach((raw) => checkKeys(raw, errors));
    const chunks = await chunksOf(stream, errors);
    checkLife(chunks, prev, errors);
    message = await assembled(chunks, prev, errors);
  } catch (error) {
    errors.push(`unreadable: ${error.message}`);
  }
  console.log(JSON.stringify({ errors, message }));
}
