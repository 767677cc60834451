import { formatDecision, makeActor, makeRealm, makeUser } from '@parley/testkit';
import type { RealmId, UserId } from '../kernel/ids.js';
import {
  canExportPerson,
  MAX_COPIES_OF_OTHERS,
  PERSON_EXPORT_SECONDS,
  type PersonExport,
  type PersonExportId,
  requireRoomForCopy,
} from './person-exports.js';

const NOW = 1_700_000_000;
const SELF = 1 as UserId;

it.each`
  role               | of         | consents | fullAccess | expected
  ${'guest'}         | ${'self'}  | ${false} | ${false}   | ${'yes'}
  ${'owner'}         | ${'other'} | ${true}  | ${false}   | ${'yes'}
  ${'owner'}         | ${'other'} | ${false} | ${true}    | ${'yes'}
  ${'owner'}         | ${'other'} | ${false} | ${false}   | ${'EXPORT_WITHOUT_CONSENT: This user does not allow exports of their private data.'}
  ${'administrator'} | ${'other'} | ${true}  | ${true}    | ${'MUST_BE_OWNER: Must be an organization owner'}
`('decides if $role may copy the data of $of (consent: $consents, full access: $fullAccess)', (row) => {
  const actor = makeActor(row.role);
  const other = makeUser();
  const realm = makeRealm({ settings: { ownerFullContentAccess: row.fullAccess } });
  const settings = { ...other.settings, allowPrivateDataExport: row.consents };
  const person = { settings, id: row.of === 'self' ? actor.id : ((actor.id + 1) as UserId) };
  expect(formatDecision(canExportPerson(actor, realm, person))).toBe(row.expected);
});

function copyOf(personId: number, requestedAt: number): PersonExport {
  const id = personId as PersonExportId;
  const of = { id, realmId: 1 as RealmId, userId: SELF, personId: personId as UserId };
  return { ...of, requestedAt, blob: null, size: 0, failedAt: null };
}

const room = (earlier: readonly PersonExport[], personId: number) =>
  requireRoomForCopy(earlier, { userId: SELF, personId: personId as UserId }, NOW);

it('accepts one request per person and day, and replaces the former copy of the person', () => {
  const own = copyOf(SELF, NOW - PERSON_EXPORT_SECONDS);
  const other = copyOf(2, NOW - 1);
  expect(room([own, other], SELF)).toEqual([own]);
  expect(() => room([own, other], 2)).toThrow('once a day');
});

it('does not count a request from a time that is years ahead', () => {
  const own = copyOf(SELF, NOW + 730 * PERSON_EXPORT_SECONDS);
  expect(room([own], SELF)).toEqual([own]);
});

it('limits the kept copies of others, not those of the requester', () => {
  const others = Array.from({ length: MAX_COPIES_OF_OTHERS }, (_, n) => copyOf(n + 2, NOW - PERSON_EXPORT_SECONDS));
  expect(room(others, SELF)).toEqual([]);
  expect(room(others, 2)).toEqual([others[0]]);
  expect(() => room(others, 99)).toThrow('at most 20 users');
});
