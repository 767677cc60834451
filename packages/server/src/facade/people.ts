import type { Role } from '@parley/domain/access';
import type { RealmExport } from '@parley/domain/exports';
import { type JsonObject, slicesOf, type UnixSeconds, type UserId } from '@parley/domain/kernel';
import {
  EraseUser,
  type Erasure,
  FindByData,
  FindHostUsers,
  findHostUser,
  type HostUser,
  type HostUserReference,
  IssueUserKey,
  LinkHostUser,
  SetUserActive,
  UpsertHostUser,
} from '@parley/domain/membership';
import { ListEarlierExports, PersonReader } from '@parley/transfer/exports';
import type { Resolve } from '../kernel/resolve.js';
import { object, optional } from '../kernel/values.js';
import { type AuditTrail, byApplication, type RecordedOperation } from '../observation/audit-trail.js';
import { describeUser } from '../observation/audited-objects.js';
import { EXTERNAL_ID, FLAG, ID, properties, TEXT, USER_PROPERTIES, WHERE } from './argument-types.js';
import { type ItemResult, itemsOf, performEach } from './bulk.js';
import { type ChatUser, presentUser } from './chat-messages.js';
import {
  type ChatData,
  type DataSelection,
  dataOf,
  filtersOf,
  parsedData,
  requireFit,
  type SetDataOptions,
  setData,
} from './host-data.js';
import { personArchive } from './person-archive.js';
import { Addresses, referenceOf, type UserRef } from './references.js';

export interface UserToUpsert {
  readonly realm: string;
  /** Permanent id from your application: up to 200 characters, compared exactly. */
  readonly externalId: string;
  readonly name: string;
  /** Default: unchanged; a new user gets a dummy address that receives no email. */
  readonly email?: string;
  /** Default: unchanged; a new user becomes a member. */
  readonly role?: Role;
  /** Data of your application, at most 4096 bytes of JSON. Default: unchanged. */
  readonly data?: JsonObject;
}

export interface UserStream extends AsyncIterable<ChatUser> {
  toArray(): Promise<readonly ChatUser[]>;
}

/** Progress of an erasure. */
export interface UserErasure {
  readonly userId: number;
  readonly requestedAt: Date;
  /** Null while the work continues. */
  readonly endedAt: Date | null;
  /** Number of rows deleted so far. */
  readonly removedRows: number;
  /** Number of texts and events changed so far. */
  readonly changedTexts: number;
  /** Request times of existing exports of the organization that were made before and contain the person. */
  readonly exportedAt: readonly Date[];
  /** True if the messages are deleted too. */
  readonly everythingWritten: boolean;
  /** Number of texts that a hold keeps; their erasure continues within an hour after its release. */
  readonly heldTexts: number;
}

/** Users API for the host application, without permission checks. */
export interface Users {
  /** Creates the user or updates changed properties; call it on every log-in. Deactivated users remain deactivated. */
  upsert(user: UserToUpsert): Promise<ChatUser>;
  /**
   * Does the same for up to 10,000 users of any organizations. Returns one result per user in the same order; an error
   * affects only its user.
   * @throws DomainError INVALID_ARGUMENT before the first change
   */
  upsertMany(users: readonly UserToUpsert[]): Promise<readonly ItemResult<ChatUser>[]>;
  /** Assigns an external id to a user without one. */
  link(user: { readonly realm: string; readonly externalId: string; readonly userId: number }): Promise<ChatUser>;
  /** Returns null for unknown users. */
  find(user: UserRef): Promise<ChatUser | null>;
  /**
   * Iterates over all users of an organization by id, page by page. Includes bots, and with `deactivated` also
   * deactivated users. `where` selects users by data with keys of `realms.declareData`.
   * Without it, intended for synchronization, not for each request.
   */
  list(selection: {
    readonly realm: string;
    readonly deactivated?: boolean;
    readonly where?: DataSelection;
  }): UserStream;
  /** Ends log-in and delivery for the user but keeps their messages. Idempotent. */
  deactivate(user: UserRef): Promise<void>;
  reactivate(user: UserRef): Promise<void>;
  /** Replaces the data of the user; `{}` removes it. */
  setData(user: UserRef, data: JsonObject, options?: SetDataOptions): Promise<ChatData>;
  /**
   * Erases the person: messages stay with the author “Deleted user”, everything else about the person is deleted in the
   * background. Irreversible. The email and external id are free immediately. Repeat with `userId` to see whether
   * the work has ended. Refuses the last owner. `everythingWritten` deletes the messages too, even of a person who was
   * erased before.
   */
  erase(user: UserRef, options?: { readonly everythingWritten?: boolean }): Promise<UserErasure>;
  /** Returns the user's API key for clients; `rotate` issues a new one and revokes the old. */
  apiKey(user: UserRef, options?: { readonly rotate?: boolean }): Promise<string>;
  /**
   * Returns a ZIP archive of everything stored about the user as a lazy stream: account, own messages, direct
   * conversations, reactions and files, as lines of JSON and as pages for readers (docs/personal-data.md). Contains
   * no secrets. An unknown user is an error of the first read.
   */
  export(user: UserRef): AsyncIterable<Uint8Array>;
}

const USER = object(USER_PROPERTIES);
const LINK = object({ realm: TEXT, externalId: EXTERNAL_ID, userId: ID }, { open: true });
const SELECTION = object({ realm: TEXT, deactivated: optional(FLAG), where: optional(WHERE) });
const ERASURE_OPTIONS = object({ everythingWritten: optional(FLAG) });
const KEY_OPTIONS = object({ rotate: optional(FLAG) });
/** Number of users per page. */
const PAGE = 500;

const dateOf = (at: UnixSeconds): Date => new Date(at * 1000);

export const presentErasure = (
  { personId, requestedAt, endedAt, removedRows, changedTexts, everythingWritten, heldTexts }: Erasure,
  earlierExports: readonly RealmExport[],
): UserErasure => ({
  userId: personId,
  requestedAt: dateOf(requestedAt),
  endedAt: endedAt === null ? null : dateOf(endedAt),
  removedRows,
  changedTexts,
  exportedAt: earlierExports.map((each) => dateOf(each.requestedAt)),
  everythingWritten,
  heldTexts,
});

/** Operation of the application on a user. */
const operationOn = (
  action: string,
  by: HostUserReference,
  more: Pick<RecordedOperation, 'isOptional' | 'reads'> = {},
): RecordedOperation => ({
  ...byApplication(`users.${action}`, async (repositories, realmId) =>
    describeUser(await findHostUser(repositories, realmId, by)),
  ),
  ...more,
});

/** Iterates over users by id, page by page. */
async function* everybody(resolve: Resolve, selection: Parameters<Users['list']>[0]): AsyncGenerator<ChatUser> {
  const { realm, deactivated = false, where = {} } = properties('The selection', SELECTION, selection);
  const realmId = await resolve(Addresses).realmId(realm);
  const users = resolve(FindHostUsers);
  const filters = filtersOf(where);
  const pages =
    filters.length > 0
      ? resolve(FindByData).execute(realmId, 'user', filters)
      : slicesOf(await users.listIds(realmId), PAGE);
  for await (const ids of pages) {
    const page = await users.describe(realmId, ids as readonly UserId[]);
    const data = await dataOf(resolve, realmId, 'user', [...page.keys()]);
    for (const each of page.values()) {
      if (each.user.isActive || deactivated) yield presentUser(each, realm, data(each.user.id));
    }
  }
}

export function usersOf(resolve: Resolve, audits: AuditTrail): Users {
  const addresses = resolve(Addresses);
  const setActive = async (ref: UserRef, isActive: boolean) => {
    const user = referenceOf(ref);
    const realmId = await addresses.realmId(ref.realm);
    await audits.run(operationOn(isActive ? 'reactivate' : 'deactivate', user), () =>
      resolve(SetUserActive).execute({ realmId, ...user, isActive, mayRemoveLastOwner: true }),
    );
  };
  const present = async (found: HostUser, realm: string) => {
    const { id, realmId } = found.user;
    return presentUser(found, realm, (await dataOf(resolve, realmId, 'user', [id]))(id));
  };
  const upsert = async ({ name: fullName, data: given, ...named }: UserToUpsert) => {
    const data = parsedData(given);
    const realmId = await addresses.realmId(named.realm);
    await requireFit(resolve, realmId, 'user', data);
    const operation = operationOn('upsert', { externalId: named.externalId }, { isOptional: true });
    const values = { ...named, fullName, realmId };
    const user = await audits.run(operation, () => resolve(UpsertHostUser).execute(values));
    if (data) await setData(resolve, { kind: 'user', id: user.id, realmId }, data);
    return present({ user, externalId: named.externalId }, named.realm);
  };
  return {
    upsert: async (given) => upsert(properties('The user', USER, given)),
    upsertMany: async (given) =>
      performEach(
        itemsOf('users', USER, given),
        ({ realm, externalId }) => JSON.stringify([realm, externalId]),
        upsert,
      ),
    async link(ref) {
      const { realm, externalId, userId } = properties('The user', LINK, ref);
      const user = { userId: userId as UserId };
      const realmId = await addresses.realmId(realm);
      const link = () => resolve(LinkHostUser).execute({ realmId, externalId, user });
      return present({ user: await audits.run(operationOn('link', user), link), externalId }, realm);
    },
    async find(ref) {
      const user = referenceOf(ref);
      const found = await resolve(FindHostUsers).find(await addresses.realmId(ref.realm), user);
      return found && present(found, ref.realm);
    },
    list: (selection) => ({
      [Symbol.asyncIterator]: () => everybody(resolve, selection),
      async toArray() {
        const all: ChatUser[] = [];
        for await (const user of everybody(resolve, selection)) all.push(user);
        return all;
      },
    }),
    deactivate: (ref) => setActive(ref, false),
    reactivate: (ref) => setActive(ref, true),
    async setData(ref, data, options) {
      const { realmId, userId: id } = await addresses.caller(ref, 'parley');
      return setData(resolve, { kind: 'user', id, realmId }, data, options);
    },
    async erase(ref, options = {}) {
      const user = referenceOf(ref);
      const { everythingWritten = false } = properties('The options', ERASURE_OPTIONS, options);
      const realmId = await addresses.realmId(ref.realm);
      const erase = () => resolve(EraseUser).execute({ realmId, user, everythingWritten });
      const erasure = await audits.run(operationOn('erase', user), erase);
      return presentErasure(erasure, await resolve(ListEarlierExports).execute(realmId, erasure.requestedAt));
    },
    async apiKey(ref, options = {}) {
      const user = referenceOf(ref);
      const { rotate = false } = properties('The options', KEY_OPTIONS, options);
      const realmId = await addresses.realmId(ref.realm);
      const issue = () => resolve(IssueUserKey).execute({ realmId, ...user, rotates: rotate, requiresActive: true });
      return audits.run(operationOn('apiKey', user, { reads: realmId }), issue);
    },
    async *export(ref) {
      const { realmId, userId } = await addresses.caller(ref, 'parley');
      // Recorded before the first byte.
      await audits.run(operationOn('export', { userId }, { reads: realmId }), async () => {});
      yield* personArchive(resolve(PersonReader), { realmId, userId });
    },
  };
}
