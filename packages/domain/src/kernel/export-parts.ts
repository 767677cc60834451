import { DomainError } from './errors.js';
import type { IdKindParts, PersonCopyParts, RealmCopyParts } from './feature-types.js';
import type { ChannelId, GroupId, MessageId, RealmId, UserId } from './ids.js';
import type { Shape } from './shape.js';
import type { Repositories, Transaction } from './unit-of-work.js';

/**
 * Organization in an export, without messages, files, images and personal data. Ids are those of the source server.
 */
export interface RealmCopy extends RealmCopyParts {}

/** Personal data of one user in an export. */
export interface PersonCopy extends PersonCopyParts {
  readonly userId: UserId;
}

/** Kinds of objects with ids that clients see. */
export interface IdKinds extends IdKindParts {}

export type IdKind = keyof IdKinds;

export const invalidImport = (text: string): DomainError => new DomainError('INVALID_IMPORT', text);

/** Scope of an export; users and objects created later are not included. */
export interface CoveredIds {
  readonly userIds: ReadonlySet<UserId>;
  readonly channelIds: ReadonlySet<ChannelId>;
}

export interface Covered extends CoveredIds {
  /** Calls `load` once per export and returns its result. */
  once<T>(reads: Repositories, load: (reads: Repositories, realmId: RealmId) => Promise<T>): Promise<T>;
}

/** Map from exported ids of one kind to ids on this server. */
export interface ImportedIdMap<Id extends number> {
  find(old: Id): Id | undefined;
  /** @throws DomainError INVALID_IMPORT */
  get(old: Id): Id;
  orNull(old: Id | null): Id | null;
  list(old: readonly Id[]): Id[];
}

/** Ids on this server of all objects imported so far. */
export interface ImportIds {
  readonly realmId: RealmId;
  readonly users: ImportedIdMap<UserId>;
  readonly groups: ImportedIdMap<GroupId>;
  readonly channels: ImportedIdMap<ChannelId>;
  readonly messages: ImportedIdMap<MessageId>;
  /** Rewrites ids in texts. */
  readonly rewriter: { markdown(text: string): string; html(text: string): string };
  /** Rewrites the emoji code, which is an id for custom emoji. */
  emojiOf<E extends { readonly type: string; readonly code: string }>(emoji: E): E;
  /**
   * Imports objects by ascending id, under the same ids if they are free. `add` receives the reserved id, or null.
   * `noun` is the name in error messages.
   * @throws DomainError INVALID_IMPORT
   */
  addAll<Id extends number, T extends { readonly id: Id }>(
    tx: Transaction,
    kind: IdKind,
    noun: string,
    items: readonly T[],
    add: (item: T, reserved: Id | null) => Promise<Id | { readonly id: Id }>,
  ): Promise<ImportedIdMap<Id>>;
  /** Returns the id map of all objects of this kind that `addAll` added. */
  lastOf<Id extends number>(kind: IdKind): ImportedIdMap<Id>;
}

/** Owner of personal data. */
export interface DataOwner {
  readonly realmId: RealmId;
  readonly userId: UserId;
}

/** Members that are missing in exports of earlier versions need a default. */
type Shapes<Copy> = { readonly [K in keyof Copy]-?: Shape<unknown> };

/** Data of a feature in exports: members `K` of the copy of an owner. */
interface ExportPart<Copy, K extends keyof Copy, Owner, Scope> {
  /** Members for owners without such data, and for users with private data that is not exported. */
  readonly none: Pick<Copy, K>;
  readonly idKinds?: readonly IdKind[];
  readonly shapes: Shapes<Pick<Copy, K>>;
  read(reads: Repositories, owner: Owner, covered: Scope): Promise<Pick<Copy, K>>;
  /** Adds the data. `owner` has ids of this server. */
  add(tx: Transaction, owner: Owner, copy: Pick<Copy, K>, ids: ImportIds): Promise<void>;
}

/** Personal data of a feature. */
export interface PersonPart<K extends keyof PersonCopy = never> extends ExportPart<PersonCopy, K, DataOwner, Covered> {
  /** True if exports contain the data of all users. */
  readonly isPublic?: boolean;
  /** Returns ids by kind. They are reserved up front because they do not ascend from user to user. */
  idsOf?(copy: Pick<PersonCopy, K>): Readonly<Partial<Record<IdKind, readonly number[]>>>;
}

/** Organization-wide data of a feature. */
export interface RealmPart<K extends keyof RealmCopy = never>
  extends ExportPart<RealmCopy, K, Pick<DataOwner, 'realmId'>, CoveredIds> {
  /** True to add the data after channels instead of before. Users and groups come first. */
  readonly namesChannels?: true;
  /** Called once every object that texts refer to has its id on this server. */
  rewriteTexts?(tx: Transaction, copy: Pick<RealmCopy, K>, ids: ImportIds): Promise<void>;
}

/** Returns a description with ids of this server; null if nothing changes. */
export function rewrittenDescription(
  { description, renderedDescription }: { readonly description: string; readonly renderedDescription: string },
  rewriter: ImportIds['rewriter'],
) {
  const rendered = rewriter.html(renderedDescription);
  if (rendered === renderedDescription) return null;
  return { description: rewriter.markdown(description), renderedDescription: rendered };
}

/** Export parts of all features, in the order of reading and importing. */
export interface ExportParts {
  readonly people: readonly PersonPart[];
  readonly realm: readonly RealmPart[];
}

/** Sorts objects by ascending id. */
export const byId = <T extends { readonly id: number }>(items: readonly T[]): T[] =>
  [...items].sort((a, b) => a.id - b.id);
