import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { ContentDigest } from '../writing/update-message.use-cases.js';

/** Kinds of actors other than users. */
export const AUDIT_PROGRAMS = ['application', 'command', 'directory', 'scim'] as const;
export type AuditProgram = (typeof AUDIT_PROGRAMS)[number];

/** Recorded facts, without personal data except ids. */
export interface AuditFacts {
  readonly at: UnixSeconds;
  /** User who acted; null for a program. */
  readonly actorId: UserId | null;
  /** Null for a user. */
  readonly program: AuditProgram | null;
  /** Operation, such as `PATCH /users/:user_id` or `parley user erase`. */
  readonly action: string;
  /** User whom the operation concerns; null if there is none or several. */
  readonly subjectId: UserId | null;
  /** Ids of the objects concerned, by name, as JSON. */
  readonly target: string;
  /** Old and new values by property, as JSON. A property of a person has neither, see `AuditDetail`. */
  readonly changes: string;
}

/** Link in the audit log of an organization. Rows are never changed. */
export interface AuditEntry extends AuditFacts {
  readonly realmId: RealmId;
  /** Position in the log, from 1 without gaps. */
  readonly number: number;
  /** Digest of the entry's detail; null if it has none. */
  readonly detailDigest: string | null;
  /** Digest of this entry and of the digest of the previous one. */
  readonly digest: string;
}

/** Personal data of an entry, which an erasure of the actor or subject deletes without breaking the chain. */
export interface AuditDetail {
  /** Random, so that the digest does not reveal short contents after the erasure. */
  readonly salt: string;
  /** Address, program and, by a setting, names, as JSON. */
  readonly content: string;
}

export interface StoredAuditEntry extends AuditEntry {
  /** Null if the entry has none or it was erased. */
  readonly detail: AuditDetail | null;
}

/** Position in the chain. */
export interface AuditLink {
  readonly number: number;
  readonly digest: string;
}

/** Ends of an organization's log, which reveal entries missing there. */
export interface AuditChain {
  readonly realmId: RealmId;
  /** Last entry removed after its time, to which the first remaining one is linked; number 0 before any removal. */
  readonly anchor: AuditLink;
  readonly last: AuditLink;
}

export interface AuditFilter {
  readonly actorId?: UserId;
  readonly subjectId?: UserId;
  readonly action?: string;
  /** Earliest time, inclusive. */
  readonly since?: UnixSeconds;
  /** Latest time, inclusive. */
  readonly until?: UnixSeconds;
  /** Excludes this number and higher ones. */
  readonly before?: number;
}

export interface AuditReads {
  /** Returns null before the first entry. */
  findChain(realmId: RealmId): Promise<AuditChain | null>;
  /** Returns the entries that meet all conditions, newest first. */
  list(realmId: RealmId, filter: AuditFilter, limit: number): Promise<readonly StoredAuditEntry[]>;
  /** Returns the entries with higher numbers, oldest first. */
  listAfter(realmId: RealmId, after: number, limit: number): Promise<readonly StoredAuditEntry[]>;
}

/** Every implementation passes audit-repository.contract.ts. */
export interface AuditRepository extends AuditReads {
  /** Adds the entry and makes it the last one of the chain. */
  append(entry: AuditEntry, detail: AuditDetail | null): Promise<void>;
  /** Removes entries up to the link with their details, and makes it the anchor. */
  removeUpTo(realmId: RealmId, anchor: AuditLink): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    audit: [reads: AuditReads, repository: AuditRepository];
  }
}

export const AUDIT_FEATURE = {
  notExported: { audit: 'It proves what happened on the original server.' },
};

/** Per organization; older entries are removed. */
export const MAX_AUDIT_ENTRIES = 100_000;

const START: AuditLink = { number: 0, digest: '' };

export const newChain = (realmId: RealmId): AuditChain => ({ realmId, anchor: START, last: START });

export const detailDigestOf = ({ salt, content }: AuditDetail, digest: ContentDigest): string => digest(salt + content);

type Unlinked = Omit<AuditEntry, 'digest'>;

/** Returns the digest of an entry after the entry with the digest `previous`. */
export function digestOf(previous: string, entry: Unlinked, digest: ContentDigest): string {
  const { number, at, actorId, program, action, subjectId, target, changes, detailDigest } = entry;
  return digest(
    JSON.stringify([previous, number, at, actorId, program, action, subjectId, target, changes, detailDigest]),
  );
}

/** Returns the next entry of the chain. */
export function linked(
  { realmId, last }: AuditChain,
  facts: AuditFacts,
  detail: AuditDetail | null,
  digest: ContentDigest,
): AuditEntry {
  const detailDigest = detail && detailDigestOf(detail, digest);
  const entry = { ...facts, realmId, number: last.number + 1, detailDigest };
  return { ...entry, digest: digestOf(last.digest, entry, digest) };
}

/**
 * - `missing`: entries before this number, or the last ones up to this number;
 * - `changed`: the entry, or the digest of the entry before it;
 * - `detailMissing`: although neither actor nor subject was erased.
 */
export type AuditFault = 'missing' | 'changed' | 'detailChanged' | 'detailMissing';

export interface AuditFinding {
  readonly number: number;
  readonly fault: AuditFault;
}

/** Comparison of a log with its digests, entry by entry. */
export class ChainCheck {
  readonly findings: AuditFinding[] = [];
  entries = 0;
  erasedDetails = 0;

  /** @param erased users who were erased */
  constructor(
    private position: AuditLink,
    private readonly erased: ReadonlySet<UserId>,
    private readonly digest: ContentDigest,
  ) {}

  /** Number of the last examined entry. */
  get number(): number {
    return this.position.number;
  }

  /** Continues after a later link if older entries were removed during the check. */
  skipTo(anchor: AuditLink): void {
    if (anchor.number > this.position.number) this.position = anchor;
  }

  add(entry: StoredAuditEntry): void {
    const { number, digest } = entry;
    this.entries++;
    // Links can be recomputed only from the predecessor.
    if (number !== this.position.number + 1) this.findings.push({ number, fault: 'missing' });
    else if (digestOf(this.position.digest, entry, this.digest) !== digest) {
      this.findings.push({ number, fault: 'changed' });
    }
    this.addDetail(entry);
    this.position = { number, digest };
  }

  /** Compares the last examined entry with an earlier copy of its link. */
  compare({ number, digest }: AuditLink): void {
    if (this.position.digest !== digest) this.findings.push({ number, fault: 'changed' });
  }

  /** Compares the end of the log with the stored one. */
  end({ number, digest }: AuditLink): void {
    if (this.position.number < number) this.findings.push({ number, fault: 'missing' });
    else this.compare({ number, digest });
  }

  private addDetail({ number, detail, detailDigest, actorId, subjectId }: StoredAuditEntry): void {
    if (detail) {
      if (detailDigestOf(detail, this.digest) !== detailDigest) this.findings.push({ number, fault: 'detailChanged' });
    } else if (detailDigest !== null) {
      const isErased = [actorId, subjectId].some((id) => id !== null && this.erased.has(id));
      if (isErased) this.erasedDetails++;
      else this.findings.push({ number, fault: 'detailMissing' });
    }
  }
}
