import type { FileId, RealmId, UnixSeconds } from '../kernel/ids.js';

/** What a temporary address stands for. */
export interface FileTicket {
  readonly realmId: RealmId;
  readonly fileId: FileId;
  readonly expiresAt: UnixSeconds;
}

/** Makes texts of tickets that nobody else can make. Synchronous and quick. */
export interface FileTokens {
  /** URL-safe. */
  sign(ticket: FileTicket): string;
  /** Null: none that was signed. Whether it has expired is up to whoever asks. */
  verify(token: string): FileTicket | null;
}
