import { AnswerComparer } from './answer-comparer.js';
import type { Answer } from './cases.js';

const SERVER = { name: '#server', saved: { hamlet: 10 } } as const;
const success = { result: 'success', msg: '' };

const anAnswer = (part: Partial<Answer>): Answer => ({
  name: 'made-up/case',
  user: 'hamlet',
  method: 'POST',
  path: '/x',
  params: {},
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: success,
  ...part,
});

function compare(recorded: Partial<Answer>, here: Partial<Answer>) {
  return new AnswerComparer(SERVER, { name: '#server', saved: { hamlet: 8 } }).compare(
    anAnswer(recorded),
    anAnswer(here),
  );
}

const differencesOf = (recorded: Partial<Answer>, here: Partial<Answer>): readonly string[] => {
  const result = compare(recorded, here);
  return result.kind === 'failed' ? result.differences.map(({ where }) => where) : [];
};

it('accepts an equivalent response', () => {
  expect(compare({ body: { ...success, user_id: 10 } }, { body: { ...success, user_id: 8 } }).kind).toBe('passed');
});

it('compares status, body and headers', () => {
  const refusal = { status: 401, body: { result: 'error', msg: 'no' }, headers: { 'www-authenticate': 'Basic' } };
  expect(differencesOf(refusal, {})).toEqual(['status', 'result', 'msg', 'header www-authenticate']);
});

it('compares the methods of an Allow header as a set', () => {
  expect(differencesOf({ headers: { allow: 'GET, POST' } }, { headers: { allow: 'POST,GET' } })).toEqual([]);
});

it('compares the events of each queue in order without ids', () => {
  const sent = { type: 'message', flags: [] };
  expect(differencesOf({ events: { old: [{ ...sent, id: 1 }] } }, { events: { old: [{ ...sent, id: 9 }] } })).toEqual(
    [],
  );
  expect(differencesOf({ events: { old: [sent] } }, {})).toEqual(['events.old']);
  expect(differencesOf({ events: { old: [sent] } }, { events: { old: [{ ...sent, flags: ['read'] }] } })).toEqual([
    'events.old.0(message).message.flags',
  ]);
});

it('ignores random events and legacy formats', () => {
  expect(differencesOf({ events: { old: [{ type: 'muted_topics' }, { type: 'presence' }] } }, {})).toEqual([]);
});

it('skips events after a different status', () => {
  expect(differencesOf({ events: { old: [{ type: 'message' }] } }, { status: 400 })).toEqual(['status']);
});

it('compares only keys and types of seeded data', () => {
  expect(differencesOf({ shape: true, body: { users: [{ id: 1 }] } }, { body: { users: [] } })).toEqual([]);
});

it('compares only result and code of loose cases', () => {
  const recorded = { loose: true, body: { result: 'error', code: 'BAD_REQUEST', msg: 'a' } };
  expect(differencesOf(recorded, { body: { result: 'error', code: 'BAD_REQUEST', msg: 'b' } })).toEqual([]);
  expect(differencesOf(recorded, { body: { result: 'error', code: 'OTHER', msg: 'a' } })).toEqual(['code']);
});

it('maps ids by the values that cases save', () => {
  const recorded = { saved: { pub: 5 }, body: { stream_id: 5 } };
  expect(differencesOf(recorded, { saved: { pub: 6 }, body: { stream_id: 6 } })).toEqual([]);
  expect(differencesOf(recorded, { saved: { pub: 6 }, body: { stream_id: 7 } })).toEqual(['stream_id']);
});

it('skips cases that cannot be compared', () => {
  expect(compare({}, { skipped: 'no value for pub' })).toEqual({ kind: 'skipped', reason: 'no value for pub' });
  expect(compare({ name: 'group-delete/own' }, {})).toEqual({ kind: 'skipped', reason: 'removed' });
});

describe('comparison with level 496', () => {
  it('expects messages of the newer argument parser', () => {
    const recorded = {
      status: 400,
      body: { result: 'error', msg: 'Argument "to" is not valid JSON.', code: 'BAD_REQUEST' },
    };
    const here = { status: 400, body: { result: 'error', msg: 'to is not valid JSON', code: 'BAD_REQUEST' } };
    expect(differencesOf(recorded, here)).toEqual([]);
  });

  it.each([
    ['-1', 'num_before is too small'],
    ['1.5', 'num_before is not an integer'],
    ['ten', 'num_before is not valid JSON'],
  ])('expects an error for a count of %s: %s', (count, msg) => {
    const body = {
      result: 'error',
      msg: `Bad value for 'num_before': ${count}`,
      code: 'REQUEST_VARIABLE_INVALID',
      var_name: 'num_before',
      bad_value: count,
    };
    expect(
      differencesOf({ status: 400, body }, { status: 400, body: { result: 'error', msg, code: 'BAD_REQUEST' } }),
    ).toEqual([]);
  });

  it('accepts any body where the recorded server returned a page', () => {
    const recorded = { status: 404, body: { '<text>': '<a page of the server>', '<length>': 5 } };
    expect(differencesOf(recorded, { status: 404, body: { result: 'error' } })).toEqual([]);
  });

  it('expects an error where the recorded server failed', () => {
    expect(differencesOf({ status: 500, body: success }, { status: 400, body: { result: 'error' } })).toEqual([]);
  });

  it("expects the result in the case's rule instead of the recorded one", () => {
    const recorded = {
      name: 'get/none',
      status: 400,
      body: { result: 'error', msg: 'a', code: 'B', var_name: 'anchor' },
    };
    const here = { status: 400, body: { result: 'error', msg: "Missing 'anchor' argument.", code: 'BAD_REQUEST' } };
    expect(differencesOf(recorded, here)).toEqual([]);
  });

  it("ignores paths named in the case's rule", () => {
    expect(
      differencesOf({ name: 'topics/list', body: { topics: [{ max_id: 5 }] } }, { body: { topics: [{ max_id: 0 }] } }),
    ).toEqual([]);
  });
});
