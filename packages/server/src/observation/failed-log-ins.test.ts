import type { RealmId } from '@parley/domain/kernel';
import { FixedClock } from '@parley/testkit';
import { FailedLogIns } from './failed-log-ins.js';

const REALM = 1 as RealmId;
const OTHER_REALM = 2 as RealmId;

/** Numbers of the failures with an audit entry. */
function recordedOf(failures: FailedLogIns, times: number, ip: string, realmId = REALM): readonly number[] {
  return Array.from({ length: times }, () => failures.add(realmId, ip)).filter((count) => count !== null);
}

describe('FailedLogIns', () => {
  it('records the first hundred of an address in an hour, then each doubling', () => {
    const clock = new FixedClock();
    const failures = new FailedLogIns(clock);
    const recorded = recordedOf(failures, 1000, '192.0.2.1');
    expect(recorded).toEqual([...Array.from({ length: 100 }, (_, index) => index + 1), 200, 400, 800]);
    expect(failures.add(REALM, '192.0.2.2')).toBe(1);
    expect(failures.add(OTHER_REALM, '192.0.2.1')).toBe(1);
    clock.advance(3600);
    expect(failures.add(REALM, '192.0.2.1')).toBe(1);
  });

  it('counts the addresses of one IPv6 network together', () => {
    const failures = new FailedLogIns(new FixedClock());
    const recorded = Array.from({ length: 150 }, (_, index) => failures.add(REALM, `2001:db8:1:1::${index + 1}`));
    expect(recorded.filter((count) => count !== null)).toHaveLength(100);
  });

  it('records five hundred of an organization in an hour, then each doubling', () => {
    const failures = new FailedLogIns(new FixedClock());
    const recorded = Array.from({ length: 2100 }, (_, index) =>
      failures.add(REALM, `192.0.${index >> 8}.${index & 255}`),
    );
    expect(recorded.filter((count) => count !== null)).toHaveLength(502);
    expect(failures.add(OTHER_REALM, '192.0.2.1')).toBe(1);
  });

  it('records nothing of further addresses and organizations if it counts too many', () => {
    const failures = new FailedLogIns(new FixedClock());
    const addressOf = (index: number) => `${(index >> 16) + 1}.${(index >> 8) & 255}.${index & 255}.1`;
    for (let index = 0; index < 100_000; index++) failures.add(REALM, addressOf(index));
    expect(recordedOf(failures, 10, '198.51.100.1')).toEqual([]);
    expect(recordedOf(failures, 10, '198.51.100.1', OTHER_REALM)).toEqual([]);
  });
});
