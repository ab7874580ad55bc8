"""The scopes in which LOG.io is explored, by name.

Rule of this file: no verdict; the other files and protocol.py have what is expected in each scope.
"""

from __future__ import annotations

from model.boxes.reorder import Ordered
from model.boxes.stateless import Filter, Relay, Union
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.evidence import Case
from model.parts import over_words
from model.predicates import Type
from model.protocols.log_io.evidence.shapes import (
    APART,
    BATCH,
    BY_TYPE,
    COIN,
    COINS,
    COUNTED,
    COUNTED_SECOND,
    COUNTED_TOO,
    DIAMOND,
    EQUAL,
    FAN,
    FROM_QUEUE,
    IN_TURN,
    IN_TURN_BY_TYPE,
    LOOKUP,
    MATCHES,
    MEET,
    PAIRS,
    PATHS,
    POLLED,
    RACE,
    RACE_AND_SPLIT,
    READ,
    SPLIT,
    TWICE,
    TWO,
    TWO_BY_TYPE,
    TWO_WRITERS,
    WRITES,
    hourly,
    line,
    one,
    operator_alone,
    ports,
    race,
)

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY

A_RELAY = Case("a relay", one(Relay(), 2), REPEATABLE)
A_RELAY_AND_A_CRASH = Case("a relay and a crash", one(Relay(), 2, crashes=1), REPEATABLE)
A_FILTER = Case("a filter", one(Filter(Type("a")), 2, "ab"), REPEATABLE)
BATCHES = Case("batches", one(BATCH, 3), DETERMINISTIC)
BATCHES_BY_TYPE = Case("batches by type", one(BY_TYPE, 3, "ab"), DETERMINISTIC)
BATCHES_IN_TURN = Case("batches in turn", one(IN_TURN, 3), DETERMINISTIC)
BATCHES_IN_TURN_BY_TYPE = Case(
    "batches in turn by type", one(IN_TURN_BY_TYPE, 3, "ab"), DETERMINISTIC
)
TWO_FUNCTIONS = Case("two functions", one(TWO, 3), DETERMINISTIC)
TWO_INPUTS_OF_TWO_FUNCTIONS = Case(
    "two inputs of two functions", one(TWO, 2, crashes=1), DETERMINISTIC
)
TWO_FUNCTIONS_BY_TYPE = Case("two functions by type", one(TWO_BY_TYPE, 2, "ab"), DETERMINISTIC)
WINDOWS_OF_HOURS = Case("windows of hours", hourly(2, 1, 2, 3), CONVERGENT_CAPABLE)
WINDOWS_OF_ONE_EVENT = Case(
    "windows of one event", operator_alone(hourly(1, 3, crashes=1)), CONVERGENT_CAPABLE
)
WINDOWS_OF_THREE_EVENTS = Case(
    "windows of three events", operator_alone(hourly(3, 1, 2, 3)), CONVERGENT_CAPABLE
)
WINDOWS_AND_A_RELAY = Case(
    "windows and a relay", hourly(2, 1, 2, 3, after=(Relay(),), crashes=1), CONVERGENT_CAPABLE
)
WINDOWS_OF_ONE_EVENT_AND_A_RELAY = Case(
    "windows of one event and a relay", hourly(1, 2, 3, after=(Relay(),)), CONVERGENT_CAPABLE
)
AN_AGGREGATE = Case("an aggregate", one(PAIRS, 3, "ab"), DETERMINISTIC)
A_CEP_OPERATOR = Case("a CEP operator", one(MATCHES, 3, "ab"), REPEATABLE)
TWO_TYPES = Case("two types", one(BY_TYPE, 2, "ab"), DETERMINISTIC)
THREE_CRASHES = Case("three crashes", one(BATCH, 2, crashes=3), DETERMINISTIC)
CRASHES_OF_THE_OPERATOR_ALONE = Case(
    "crashes of the operator alone", operator_alone(one(BY_TYPE, 4, "ab")), DETERMINISTIC
)
BATCHES_IN_TURN_BY_TYPE_THAT_CRASH_ONCE = Case(
    "batches in turn by type that crash once",
    operator_alone(one(IN_TURN_BY_TYPE, 3, "ab", crashes=1)),
    DETERMINISTIC,
)
COUNTED_BY_TYPE = Case("counted by type", operator_alone(one(COUNTED, 3, "ab")), DETERMINISTIC)
COUNTED_BY_TWO_FUNCTIONS = Case(
    "counted by two functions", operator_alone(one(COUNTED_TOO, 3, "ab")), DETERMINISTIC
)
COUNTED_BY_THE_SECOND_FUNCTION = Case(
    "counted by the second function", operator_alone(one(COUNTED_SECOND, 3, "ab")), DETERMINISTIC
)
TWO_INPUTS_COUNTED_BY_TWO_FUNCTIONS = Case(
    "two inputs counted by two functions", operator_alone(one(COUNTED_TOO, 2, "ab")), DETERMINISTIC
)
TWO_PORTS_COUNTED_BY_TYPE = Case(
    "two ports counted by type", ports(COUNTED, ("ab", 2), ("a", 1), 2), ARBITRARY
)
TWO_PORTS_COUNTED_BY_TWO_FUNCTIONS = Case(
    "two ports counted by two functions", ports(COUNTED_TOO, ("a", 2), ("b", 1), 2), ARBITRARY
)
TWO_PORTS_AND_TWO_FUNCTIONS = Case(
    "two ports and two functions", ports(TWO, ("a", 1), ("b", 1), 2), ARBITRARY
)
TWO_PORTS_IN_ORDER_OF_TIME = Case(
    "two ports in order of time", ports(Ordered(Union()), ("a", 2), ("b", 1), 2), REPEATABLE
)
TWO_PORTS_BY_TYPE = Case("two ports by type", ports(BY_TYPE, ("ab", 2), ("ab", 2), 1), ARBITRARY)
TWO_WRITES_AN_INPUT = Case("two writes an input", one(TWICE, 2), REPEATABLE)
TWO_WRITES_AN_INPUT_OF_THREE = Case(
    "two writes an input of three", operator_alone(one(TWICE, 3)), REPEATABLE
)
TWO_WRITES_OF_ONE_INPUT = Case("two writes of one input", one(TWICE, 1), REPEATABLE)
A_READER_OF_WRITES = Case("a reader of writes", over_words(LOOKUP, 1, "a", crashes=2), REPEATABLE)
A_READER_OF_TWO_WRITES = Case(
    "a reader of two writes", over_words(LOOKUP, 2, "a", crashes=1), REPEATABLE
)
A_READER_OF_WRITES_NO_CRASH = Case(
    "a reader of writes no crash", over_words(LOOKUP, 2, "a", crashes=0), REPEATABLE
)
TWO_WRITERS_OF_ONE_SYSTEM = Case(
    "two writers of one system", over_words(TWO_WRITERS, 2, "a", crashes=1), REPEATABLE
)
TWO_RELAYS = Case("two relays", line(Relay(), Relay(), length=2), REPEATABLE)
A_RELAY_AND_BATCHES = Case("a relay and batches", line(Relay(), BATCH, length=3), DETERMINISTIC)
THREE_OPERATORS = Case(
    "three operators", line(Relay(), BATCH, Relay(), length=3, crashes=2), DETERMINISTIC
)
TWO_PORTS_THAT_RACE = Case("two ports that race", over_words(RACE, 2, "a", crashes=2), ARBITRARY)
TWO_WAYS_TO_ONE_OPERATOR = Case(
    "two ways to one operator", over_words(DIAMOND, 1, "a", crashes=2), ARBITRARY
)
TWO_SINKS = Case("two sinks", over_words(FAN, 2, "a", crashes=3), DETERMINISTIC)
A_SIDE_EFFECT_READ = Case("a side effect read", one(COIN, 2, crashes=3), ARBITRARY)
A_SIDE_EFFECT_READ_AND_TWO_SINKS = Case(
    "a side effect read and two sinks", over_words(COINS, 1, "a", crashes=3), ARBITRARY
)
A_READ = Case("a read", line(READ, Relay(), length=2, crashes=2), ARBITRARY)
A_READ_AND_A_CRASH = Case("a read and a crash", line(READ, Relay(), length=1, crashes=1), ARBITRARY)
A_READ_AND_THREE_CRASHES = Case(
    "a read and three crashes", line(READ, Relay(), length=1, crashes=3), ARBITRARY
)
A_READ_AND_BATCHES = Case("a read and batches", line(READ, BATCH, length=2, crashes=2), ARBITRARY)
A_POLL = Case("a poll", line(POLLED, Relay(), length=2), ARBITRARY)
A_QUEUE = Case("a queue", line(FROM_QUEUE, Relay(), length=2), DETERMINISTIC)
A_QUEUE_OF_ONE_EVENT = Case(
    "a queue of one event", line(FROM_QUEUE, Relay(), length=1, crashes=1), DETERMINISTIC
)
ONE_BATCH_AND_A_RELAY = Case("one batch and a relay", line(BATCH, Relay(), length=2), DETERMINISTIC)
BATCHES_IN_TURN_AND_A_RELAY = Case(
    "batches in turn and a relay", line(IN_TURN, Relay(), length=3), DETERMINISTIC
)
BATCHES_BY_TYPE_TWICE = Case(
    "batches by type twice", line(BY_TYPE, BY_TYPE, length=2, types="ab"), DETERMINISTIC
)
THREE_RELAYS_AND_AN_EVENT = Case(
    "three relays and an event", line(Relay(), Relay(), Relay(), length=1), REPEATABLE
)
THREE_RELAYS = Case("three relays", line(Relay(), Relay(), Relay(), length=2), REPEATABLE)
THREE_RELAYS_AND_A_CRASH = Case(
    "three relays and a crash", line(Relay(), Relay(), Relay(), length=2, crashes=1), REPEATABLE
)
THREE_OPERATORS_AND_A_BATCH = Case(
    "three operators and a batch", line(Relay(), BATCH, Relay(), length=2), DETERMINISTIC
)
TWO_FUNCTIONS_AND_A_RELAY = Case(
    "two functions and a relay", line(TWO, Relay(), length=2), DETERMINISTIC
)
A_RELAY_AND_TWO_FUNCTIONS_AND_A_CRASH = Case(
    "a relay and two functions and a crash", line(Relay(), TWO, length=2, crashes=1), DETERMINISTIC
)
TWO_RECEIVERS = Case("two receivers", over_words(SPLIT, 1, "a", crashes=2), REPEATABLE)
A_RACE_AND_TWO_RECEIVERS = Case(
    "a race and two receivers",
    Scope(
        RACE_AND_SPLIT,
        tuple(
            (source, Inputs((Arrival(1, type_),), 1))
            for source, type_ in (("left", "a"), ("right", "b"))
        ),
    ),
    ARBITRARY,
)
A_RELAY_THAT_WRITES = Case("a relay that writes", over_words(WRITES, 2, "a", crashes=2), REPEATABLE)
TWO_RELAYS_THAT_MEET = Case("two relays that meet", over_words(MEET, 1, "a", crashes=2), ARBITRARY)
TWO_PORTS = Case("two ports", race(Union(), 1, 1, 2), ARBITRARY)
BATCHES_APART = Case("batches apart", one(APART, 2), DETERMINISTIC)
TWO_PORTS_AND_BATCHES = Case("two ports and batches", race(BATCH, 1, 2, 1), ARBITRARY)
TWO_PATHS = Case(
    "two paths", Scope(PATHS, (("other", Inputs(EQUAL, 2)), ("one", Inputs(EQUAL, 1)))), ARBITRARY
)
BATCHES_AND_A_RELAY = Case(
    "batches and a relay", line(BATCH, Relay(), length=4, crashes=1), DETERMINISTIC
)
A_RELAY_AND_A_BATCH = Case("a relay and a batch", line(Relay(), BATCH, length=2), DETERMINISTIC)
AN_AGGREGATE_THAT_CRASHES_ONCE = Case(
    "an aggregate that crashes once", one(PAIRS, 3, "ab", crashes=1), DETERMINISTIC
)
A_CEP_OPERATOR_THAT_CRASHES_ONCE = Case(
    "a CEP operator that crashes once", one(MATCHES, 3, "ab", crashes=1), REPEATABLE
)
NO_CRASH = Case("no crash", one(BY_TYPE, 4, "ab", crashes=0), DETERMINISTIC)
