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

/** Somebody who has proved nothing yet, on the host of a realm or of none. */
export interface AnonymousCaller {
  readonly realmId: RealmId | null;
  /** Network address, which limits are counted by; absent in process. */
  readonly ip?: string | undefined;
  /** As the program calls itself; absent in process. */
  readonly clientName?: string | undefined;
}
