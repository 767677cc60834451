import type { RealmId, UserId } from '../kernel/ids.js';
import {
  type AuditDetail,
  type AuditFacts,
  ChainCheck,
  detailDigestOf,
  linked,
  newChain,
  type StoredAuditEntry,
} from './audit.js';

const REALM = 1 as RealmId;
const ANN = 7 as UserId;
/** Readable, so that the digests of a failure can be compared. */
const digest = (text: string) => `<${text}>`;
const DETAIL: AuditDetail = { salt: 's', content: '{}' };

const facts = (more: Partial<AuditFacts> = {}): AuditFacts => ({
  ...{ at: 100, actorId: ANN, program: null, action: 'a', subjectId: null, target: '{}', changes: '{}' },
  ...more,
});

/** Links entries with details. */
function logOf(...list: readonly AuditFacts[]): StoredAuditEntry[] {
  const log: StoredAuditEntry[] = [];
  let chain = newChain(REALM);
  for (const each of list) {
    const entry = linked(chain, each, DETAIL, digest);
    log.push({ ...entry, detail: DETAIL });
    chain = { ...chain, last: entry };
  }
  return log;
}

function check(log: readonly StoredAuditEntry[], { last = log.at(-1)!, erased = [] as UserId[], from = 0 } = {}) {
  const anchor = from === 0 ? newChain(REALM).anchor : log[from - 1]!;
  const checked = new ChainCheck(anchor, new Set(erased), digest);
  for (const entry of log.slice(from)) checked.add(entry);
  checked.end(last);
  return checked;
}

const LOG = logOf(facts(), facts({ subjectId: 8 as UserId }), facts({ action: 'b' }), facts());

it('accepts a log as it was written', () => {
  expect(check(LOG)).toMatchObject({ findings: [], entries: 4, erasedDetails: 0, number: 4 });
});

it('accepts a log without its first entries', () => {
  expect(check(LOG, { from: 2 })).toMatchObject({ findings: [], entries: 2 });
});

it.each<Partial<StoredAuditEntry>>([
  { at: 101 },
  { actorId: 9 as UserId },
  { program: 'scim' },
  { action: 'c' },
  { subjectId: ANN },
  { target: '{"x":1}' },
  { changes: '{"x":1}' },
])('finds an entry with another value: %j', (changed) => {
  const log = LOG.map((entry) => (entry.number === 2 ? { ...entry, ...changed } : entry));
  expect(check(log).findings).toEqual([{ number: 2, fault: 'changed' }]);
});

it('finds an entry that was changed together with its digest', () => {
  const log = LOG.map((entry) => (entry.number === 2 ? { ...entry, digest: 'another' } : entry));
  expect(check(log).findings).toEqual([
    { number: 2, fault: 'changed' },
    { number: 3, fault: 'changed' },
  ]);
});

it('finds missing entries within the log and at its end', () => {
  const without = (number: number) => LOG.filter((entry) => entry.number !== number);
  expect(check(without(1)).findings).toEqual([{ number: 2, fault: 'missing' }]);
  expect(check(without(3)).findings).toEqual([{ number: 4, fault: 'missing' }]);
  expect(check(without(4), { last: LOG[3]! }).findings).toEqual([{ number: 4, fault: 'missing' }]);
});

it('finds a last entry with another digest', () => {
  expect(check(LOG, { last: { ...LOG[3]!, digest: 'another' } }).findings).toEqual([{ number: 4, fault: 'changed' }]);
});

it('accepts missing details only of entries by or about erased people', () => {
  const log = LOG.map((entry) => (entry.number === 2 ? { ...entry, detail: null } : entry));
  expect(check(log).findings).toEqual([{ number: 2, fault: 'detailMissing' }]);
  expect(check(log, { erased: [9 as UserId] }).findings).toEqual([{ number: 2, fault: 'detailMissing' }]);
  for (const erased of [ANN, 8 as UserId]) {
    expect(check(log, { erased: [erased] })).toMatchObject({ findings: [], erasedDetails: 1 });
  }
});

it('finds a detail with another text', () => {
  const changed = { salt: 's', content: '{"ip":"::1"}' };
  const log = LOG.map((entry) => (entry.number === 2 ? { ...entry, detail: changed } : entry));
  expect(check(log).findings).toEqual([{ number: 2, fault: 'detailChanged' }]);
});

it('gives equal details different digests', () => {
  expect(detailDigestOf({ ...DETAIL, salt: 't' }, digest)).not.toBe(detailDigestOf(DETAIL, digest));
});
