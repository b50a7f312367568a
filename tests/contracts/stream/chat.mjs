// A page's chat, without the page: the SDK's own `Chat` over HTTP. argv: base URL, conversation id, acts as JSON:
// `{"say"}`, `{"vote": [true, …], "reason"?}` (on what was asked, in order), `{"again": true}`. Prints `{"messages", "errors"}`.
import { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';

class State {
  status = 'ready';
  error = undefined;
  messages = [];
  pushMessage = (message) => { this.messages = [...this.messages, message]; };
  popMessage = () => { this.messages = this.messages.slice(0, -1); };
  replaceMessage = (index, message) => { this.messages = this.messages.with(index, structuredClone(message)); };
  snapshot = (thing) => structuredClone(thing);
}
class Chat extends AbstractChat {
  constructor(init) { super({ ...init, state: new State() }); }
}

const [base, id, acts] = process.argv.slice(2);
const errors = [], starts = [];
let going;
const chat = new Chat({
  id,
  transport: new DefaultChatTransport({ api: `${base}/api/conversation/stream` }),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  onError: (error) => errors.push(error.message),
  onFinish: () => { going?.(); },
});
const finished = () => new Promise((resolve) => { going = resolve; });

for (const act of JSON.parse(acts)) {
  if (act.say) await chat.sendMessage({ text: act.say });
  if (act.again) await chat.regenerate();
  if (act.vote) {
    const asked = chat.messages.at(-1).parts.filter((part) => part.state === 'approval-requested');
    const over = finished();
    for (const [index, approved] of act.vote.entries()) {
      await chat.addToolApprovalResponse({ id: asked[index].approval.id, approved, reason: act.reason });
    }
    await over;
  }
}
console.log(JSON.stringify({ messages: chat.messages, errors }));
