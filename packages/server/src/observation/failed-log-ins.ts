import type { Clock, RealmId } from '@parley/domain/kernel';
import { ipGroup } from '@parley/http';

const HOUR_SECONDS = 3600;
/** Maximum number of audit entries per hour, of an address and of an organization; their numbers follow at each doubling. */
export const MAX_OF_ADDRESS = 100;
const MAX_OF_REALM = 500;
/** Maximum number of counted addresses and organizations. */
const MAX_COUNTS = 100_000;

/** Counts failed log-ins, so that strangers cannot displace other audit entries. Log lines name all. */
export class FailedLogIns {
  private hour = 0;
  private counts = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Returns the number of failures of the address in this hour if it deserves an audit entry. */
  add(realmId: RealmId, ip: string): number | null {
    const hour = Math.floor(this.clock.now() / HOUR_SECONDS);
    if (this.hour !== hour) this.counts.clear();
    this.hour = hour;
    const ofAddress = this.count(`${realmId} ${ipGroup(ip)}`);
    if (!isRecorded(ofAddress, MAX_OF_ADDRESS)) return null;
    return isRecorded(this.count(`${realmId}`), MAX_OF_REALM) ? ofAddress : null;
  }

  /** Returns a number that is not recorded for others than the counted. */
  private count(key: string): number {
    const count = this.counts.get(key) ?? (this.counts.size < MAX_COUNTS ? 0 : Number.POSITIVE_INFINITY);
    if (count < Number.POSITIVE_INFINITY) this.counts.set(key, count + 1);
    return count + 1;
  }
}

const isRecorded = (count: number, max: number): boolean => count <= max || Number.isInteger(Math.log2(count / max));
