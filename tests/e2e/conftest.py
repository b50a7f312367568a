"""Servers in processes of their own."""

from tests.e2e.fixtures import ann as ann
from tests.e2e.fixtures import elsewhere as elsewhere
from tests.e2e.fixtures import house as house
from tests.e2e.fixtures import server as server
from tests.e2e.fixtures import servers_nursery as servers_nursery
from tests.e2e.fixtures import sqlite_house as sqlite_house
