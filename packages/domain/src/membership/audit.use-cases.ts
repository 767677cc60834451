import { mustBeOwner } from '../access/actor.js';
import type { Caller, RealmId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ROWS_PER_PAGE } from '../kernel/work.js';
import type { ContentDigest } from '../writing/update-message.use-cases.js';
import {
  type AuditChain,
  type AuditDetail,
  type AuditFacts,
  type AuditFilter,
  type AuditFinding,
  type AuditLink,
  type AuditReads,
  ChainCheck,
  linked,
  MAX_AUDIT_ENTRIES,
  newChain,
  type StoredAuditEntry,
} from './audit.js';

/** Adds an entry to the audit log, in the unit of work of the recorded change. */
export async function recordAudit(
  { audit }: Pick<Transaction, 'audit'>,
  realmId: RealmId,
  { facts, detail }: { readonly facts: AuditFacts; readonly detail: AuditDetail | null },
  digest: ContentDigest,
): Promise<void> {
  const chain = (await audit.findChain(realmId)) ?? newChain(realmId);
  await audit.append(linked(chain, facts, detail, digest), detail);
}

export interface ListAuditEntriesInput extends AuditFilter {
  readonly limit: number;
}

/** Returns entries of the audit log to an owner, newest first (extensions §13). */
export class ListAuditEntries {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_OWNER */
  execute(caller: Caller, { limit, ...filter }: ListAuditEntriesInput): Promise<readonly StoredAuditEntry[]> {
    return this.uow.read(caller.realmId, async (repositories) => {
      enforce(mustBeOwner(await repositories.actors.get(caller)));
      return repositories.audit.list(caller.realmId, filter, limit);
    });
  }
}

/** Reads the audit log of an organization for the operator, oldest first. */
export class ReadAuditLog {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  async *execute(realmId: RealmId): AsyncGenerator<readonly StoredAuditEntry[]> {
    let page: readonly StoredAuditEntry[];
    let after = 0;
    do {
      page = await this.uow.read(realmId, ({ audit }) => audit.listAfter(realmId, after, ROWS_PER_PAGE));
      if (page.length > 0) yield page;
      after = page.at(-1)?.number ?? after;
    } while (page.length === ROWS_PER_PAGE);
  }
}

export interface AuditVerification {
  /** Number of examined entries. */
  readonly entries: number;
  /** Number of details that are absent because the actor or subject was erased. */
  readonly erasedDetails: number;
  /** Ends of the log; null if it has no entry yet. */
  readonly chain: AuditChain | null;
  /** Findings in the order of the log; at most `MAX_FINDINGS`. */
  readonly findings: readonly AuditFinding[];
}

const MAX_FINDINGS = 100;

/** Compares the audit log of an organization with its digests. */
export class VerifyAuditLog {
  static readonly inject = ['unitOfWork', 'contentDigest'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly digest: ContentDigest,
  ) {}

  /** @param known earlier last entry, which the log must still contain unless it was removed after its time */
  async execute(realmId: RealmId, known: AuditLink | null = null): Promise<AuditVerification> {
    const { chain, erased, beyond } = await this.uow.read(realmId, async ({ audit, erasures }) => {
      const chain = await audit.findChain(realmId);
      const [beyond] = await audit.listAfter(realmId, chain?.last.number ?? 0, 1);
      const erased = new Set((await erasures.list(realmId)).map(({ personId }) => personId));
      return { chain, erased, beyond };
    });
    const { anchor, last } = chain ?? newChain(realmId);
    const check = new ChainCheck(anchor, erased, this.digest);
    while (check.number < last.number && check.findings.length < MAX_FINDINGS) {
      const [page, now] = await this.uow.read(realmId, async ({ audit }) => [
        await audit.listAfter(realmId, check.number, ROWS_PER_PAGE),
        await audit.findChain(realmId),
      ]);
      if (now) check.skipTo(now.anchor);
      const due = page.filter(({ number }) => number <= last.number);
      for (const entry of due) {
        check.add(entry);
        if (entry.number === known?.number) check.compare(known);
      }
      if (due.length === 0) break;
    }
    check.end(last);
    // An entry after the last one was added without its link.
    if (beyond) check.findings.push({ number: beyond.number, fault: 'changed' });
    if (known && known.number > last.number) check.findings.push({ number: known.number, fault: 'missing' });
    const { entries, erasedDetails, findings } = check;
    return { entries, erasedDetails, chain, findings: findings.slice(0, MAX_FINDINGS) };
  }
}

/** Removes entries after their time, and the oldest ones beyond `MAX_AUDIT_ENTRIES`. */
export class RemoveOldAuditEntries {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async execute({ keepSeconds }: { readonly keepSeconds: number }): Promise<void> {
    const before = this.clock.now() - keepSeconds;
    for (const { id } of await this.uow.readAcross(({ realms }) => realms.list())) {
      let due: AuditLink | null;
      do {
        due = await this.uow.read(id, ({ audit }) => lastDue(audit, id, before));
        const anchor = due;
        if (anchor) await this.uow.write(id, (tx) => tx.audit.removeUpTo(id, anchor), { yields: true });
      } while (due);
    }
  }
}

/** Returns the last of the oldest entries that are due; null if none is. */
async function lastDue(audit: AuditReads, realmId: RealmId, before: number): Promise<AuditLink | null> {
  const chain = await audit.findChain(realmId);
  if (!chain) return null;
  const oldest = await audit.listAfter(realmId, chain.anchor.number, ROWS_PER_PAGE);
  const kept = oldest.findIndex(({ at, number }) => at >= before && number > chain.last.number - MAX_AUDIT_ENTRIES);
  const due = oldest.slice(0, kept < 0 ? oldest.length : kept).at(-1);
  return due ? { number: due.number, digest: due.digest } : null;
}
