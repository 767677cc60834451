import type { RealmId, SessionId, UserId } from './ids.js';

/** What authentication knows of whoever calls a use case. Rights are looked up by the use case, in its own unit. */
export interface Caller {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** As messages show it: `website`, `ZulipMobile`; at most 30 characters. */
  readonly clientName: string;
  /** Absent: not logged in by a browser session. */
  readonly sessionId?: SessionId;
}
