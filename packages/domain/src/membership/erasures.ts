import type { ErasureRecord } from '../kernel/administration.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { RealmPart } from '../kernel/export-parts.js';
import { type ErasureId, isId, type MessageId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, jobKind } from '../kernel/jobs.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';
import { isOnlyOwnerOf } from '../users/user-permissions.js';
import { erasedEmail, type FormerIdentity, isErased, type MentionRemoval } from './erased-person.js';

/** Erasure of a person, without data of the person. Rows stay for good. */
export interface Erasure {
  readonly id: ErasureId;
  readonly realmId: RealmId;
  /** User who was erased. */
  readonly personId: UserId;
  readonly requestedAt: UnixSeconds;
  /** Null while the work continues. */
  readonly endedAt: UnixSeconds | null;
  /** Number of deleted rows. */
  readonly removedRows: number;
  /** Number of changed texts and events. */
  readonly changedTexts: number;
  /** True if the messages of the person were deleted too. */
  readonly everythingWritten: boolean;
  /** Number of texts that holds keep; the work continues once one of the holds is released. */
  readonly heldTexts: number;
}

/** Copy of all erasures outside the database, which survives the loss of the database. */
export interface ErasureLedger {
  /** Adds the entries that the ledger does not contain yet. */
  add(entries: readonly ErasureRecord[]): Promise<void>;
}

/** Reports that may name anybody in the organization. */
export interface PersonalReports {
  /** Removes the reports that nobody needs. Takes several units of work. */
  remove(uow: UnitOfWork, realmId: RealmId): Promise<void>;
}

/** Position in the tables as plain JSON, opaque outside the storage. */
export type TableCursor = { readonly table: string; readonly key: readonly (string | number)[] };

/** Result of a step through the tables. */
export interface TableStep {
  /** Number of deleted or changed rows. */
  readonly count: number;
  /** Number of rows that would have changed without a hold. */
  readonly held: number;
  /** Null at the end. */
  readonly next: TableCursor | null;
}

/** Data of one person in all tables, by their declarations. Every implementation passes personal-data.contract.ts. */
export interface PersonalDataRepository {
  /** Deletes at most `limit` rows that consist of data of the person. `from`: null for the beginning. */
  removeSome(
    realmId: RealmId,
    person: Pick<FormerIdentity, 'id' | 'email'>,
    from: TableCursor | null,
    limit: number,
  ): Promise<TableStep>;
  /**
   * Removes mentions from texts of others, in at most `limit` rows that it examines. Messages get a new version; held
   * ones stay unchanged with their edits and copies.
   */
  replaceSome(realmId: RealmId, removal: MentionRemoval, from: TableCursor | null, limit: number): Promise<TableStep>;
  /**
   * Removes mentions from these messages, and their edit history, unless a hold covers them. Returns the number of
   * changed rows.
   */
  replaceInMessages(realmId: RealmId, removal: MentionRemoval, ids: readonly MessageId[]): Promise<number>;
}

export const ERASURE_ROWS: RowRules<Erasure> = { kind: 'erasure', owner: 'realm', order: ['id'] };

/** @throws DomainError MUST_NOT_BE_BOT, USER_MERGED, LAST_OWNER */
export async function requireErasable(reads: Repositories, user: User): Promise<void> {
  const { id, realmId, bot } = user;
  if (bot) throw new DomainError('MUST_NOT_BE_BOT', 'Only people can be erased. Deactivate the bot.');
  if (await isOnlyOwnerOf(reads, realmId, id)) {
    throw new DomainError('LAST_OWNER', 'Cannot erase the only organization owner');
  }
  const [merge] = await reads.importedRecords.list(realmId, 'merge', [String(id)]);
  if (merge && !isErased(user)) {
    const message = `User ${id} was merged into user ${merge.targetId}. Erase that one, or revert the merge.`;
    throw new DomainError('USER_MERGED', message);
  }
}

export const ERASURE_ERRORS = declareErrors({
  /** The person was erased, so that nobody can use the account again. */
  USER_ERASED: 'conflict',
  /** The imported person was merged into another user, who has the messages. */
  USER_MERGED: 'conflict',
  /** The name that confirms an erasure is not the name of the person. */
  OTHER_NAME: 'invalid',
});

type ErasureErrors = typeof ERASURE_ERRORS;

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    erasures: [reads: RealmRowReads<Erasure>, repository: RealmRows<Erasure>];
    personalData: [reads: never, repository: PersonalDataRepository];
  }
  interface ErrorCodes extends ErasureErrors {}
  interface RealmCopyParts {
    readonly erasures: readonly Omit<Erasure, 'realmId'>[];
  }
}

const realmPart: RealmPart<'erasures'> = {
  none: { erasures: [] },
  shapes: {
    // Earlier exports have none.
    erasures: shape.orElse(
      shape.list(
        shape.object({
          id: shape.anyId,
          personId: shape.anyId,
          requestedAt: shape.time,
          endedAt: shape.orNull(shape.time),
          removedRows: shape.integer,
          changedTexts: shape.integer,
          everythingWritten: shape.flag,
          heldTexts: shape.orElse(shape.integer, 0),
        }),
        1_000_000,
      ),
      [],
    ),
  },
  read: async (reads, { realmId }) => ({
    erasures: (await reads.erasures.list(realmId)).map(({ realmId: _, ...erasure }) => erasure),
  }),
  async add(tx, { realmId }, { erasures }, { users }) {
    for (const { id: _, ...erasure } of erasures) {
      const personId = users.find(erasure.personId);
      if (personId === undefined) continue;
      // Holds stay behind.
      await tx.erasures.add({ ...erasure, realmId, personId, heldTexts: 0 });
      // The address contains the id.
      const user = await tx.users.get(realmId, personId);
      if (user.email === erasedEmail(erasure.personId))
        await tx.users.update({ ...user, email: erasedEmail(personId) });
    }
  },
};

export const ERASURE_FEATURE = {
  realmPart,
  rows: { erasures: ERASURE_ROWS },
  notExported: {
    personalData: 'It removes data of others.',
  },
};

/** Position within each stage of an erasure: in the tables, or the id of an event, message or file. */
interface Positions {
  readonly rows: TableCursor;
  /** Always the beginning: finished bots are recognized. */
  readonly bots: never;
  /** Newest first. */
  readonly messages: number;
  readonly copies: number;
  readonly reactions: number;
  readonly answers: number;
  readonly files: number;
  /** Last user with an examined profile; profiles may mention the person. */
  readonly descriptions: number;
  readonly events: number;
  readonly texts: TableCursor;
  /** Newest first. */
  readonly held: number;
}
type Stage = keyof Positions;

/**
 * Stages in order. The stages from `messages` to `answers` delete everything written. Stages before `events` may append
 * events about the person. `held` looks for messages of the person under a hold, which need the former identity.
 */
export const ERASURE_STAGES = [
  'rows',
  'bots',
  'messages',
  'copies',
  'reactions',
  'answers',
  'files',
  'descriptions',
  'events',
  'texts',
  'held',
] as const satisfies readonly Stage[];

/** `at`: null at the beginning of the stage. */
export type ErasureProgress = { readonly [S in Stage]: { readonly stage: S; readonly at: Positions[S] | null } }[Stage];

export type ErasurePayload = ErasureProgress & {
  readonly erasureId: ErasureId;
  /** The job is the last place that has it. It is kept, and the work repeated, until the erasure has ended. */
  readonly former: FormerIdentity;
  /** Absent: messages are kept. */
  readonly everythingWritten?: boolean;
  /** Number of held texts in this pass. Absent: none. */
  readonly heldTexts?: number;
  /** Beginning of this pass; absent for the first one. */
  readonly passedSince?: UnixSeconds;
  /** True after a pass that met a hold, until a hold is released. */
  readonly isWaiting?: boolean;
};

export const ERASE_PERSON_JOB = jobKind<ErasurePayload>({
  name: 'accounts.erase_person',
  readPayload: (stored) => {
    const payload = stored as ErasurePayload;
    if (!isId(payload.erasureId) || !isId(payload.former?.id) || !ERASURE_STAGES.includes(payload.stage)) {
      throw new TypeError('Job payload has no erasure, person or known stage');
    }
    return payload;
  },
  concurrency: 1,
  yields: true,
});

export const planErasure = (tx: Transaction, realmId: RealmId, payload: ErasurePayload, dueAt: UnixSeconds) =>
  tx.jobs.schedule(encodeJob(ERASE_PERSON_JOB, { realmId, dueAt, payload }));
