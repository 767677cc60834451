import { ROLES, type Role } from '@parley/domain/access';
import { firstOf, type GroupId, type UserId } from '@parley/domain/kernel';
import type {
  NewProvisionedUser,
  ProvisionedGroupChange,
  ProvisionedGroupView,
  ProvisionedUser,
  ProvisionedUserChange,
} from '@parley/domain/log-in';
import { memberOf, namedValues, type PatchPath, parsePatchPath, ScimError } from './scim-filter.js';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const timeOf = (seconds: number | null): string | undefined =>
  seconds === null ? undefined : new Date(seconds * 1000).toISOString();

/** Splits a full name into given names and a family name, as well as possible. */
function partsOf(fullName: string): { readonly givenName: string; readonly familyName: string } {
  const space = fullName.lastIndexOf(' ');
  return space === -1
    ? { givenName: fullName, familyName: '' }
    : { givenName: fullName.slice(0, space), familyName: fullName.slice(space + 1) };
}

/** @param url URL of the organization */
export const userResource = (url: string, user: ProvisionedUser): Json => ({
  schemas: [USER_SCHEMA],
  id: String(user.id),
  ...(user.externalId !== null && { externalId: user.externalId }),
  userName: user.email,
  displayName: user.fullName,
  name: { formatted: user.fullName, ...partsOf(user.fullName) },
  emails: [{ value: user.email, type: 'work', primary: true }],
  active: user.isActive,
  roles: [{ value: user.role, primary: true }],
  meta: {
    resourceType: 'User',
    created: timeOf(user.createdAt),
    location: `${url}/scim/v2/Users/${user.id}`,
    version: tagOf(user.version),
  },
});

export const groupResource = (url: string, group: ProvisionedGroupView): Json => ({
  schemas: [GROUP_SCHEMA],
  id: String(group.id),
  ...(group.externalId !== null && { externalId: group.externalId }),
  displayName: group.name,
  members: group.memberIds.map((id) => ({ value: String(id), type: 'User' })),
  meta: {
    resourceType: 'Group',
    created: timeOf(group.createdAt),
    location: `${url}/scim/v2/Groups/${group.id}`,
    version: tagOf(group.version),
  },
});

export const tagOf = (version: string): string => `W/"${version}"`;

/** Parses an id; ids of this server are positive integers as text. */
export function idOf<I extends UserId | GroupId>(value: unknown): I | null {
  return typeof value === 'string' && /^[1-9]\d{0,14}$/.test(value) ? (Number(value) as I) : null;
}

const invalidValue = (name: string) => new ScimError(400, 'invalidValue', `The value of ${name} is not valid.`);

/** @throws ScimError invalidValue */
function textIn(object: Json, name: string): string | undefined {
  const value = memberOf(object, name.toLowerCase());
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalidValue(name);
  return value.trim();
}

/** Microsoft Entra sends booleans as text. */
function activeIn(resource: Json): boolean | undefined {
  const value = memberOf(resource, 'active');
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  const text = String(value).toLowerCase();
  if (text !== 'true' && text !== 'false') throw invalidValue('active');
  return text === 'true';
}

/** Role of the primary entry, or of the first. Entries are objects or text; Entra sends objects as JSON text. */
function roleIn(resource: Json): Role | undefined {
  const given = memberOf(resource, 'roles');
  if (given === undefined || given === null) return undefined;
  const entries = [given].flat().map((entry) => (typeof entry === 'string' ? entryOf(entry) : entry));
  const isPrimary = (entry: unknown) => isObject(entry) && String(memberOf(entry, 'primary')).toLowerCase() === 'true';
  const entry = entries.find(isPrimary) ?? entries[0];
  if (entry === undefined) return undefined;
  const value = isObject(entry) ? memberOf(entry, 'value') : entry;
  const name = (typeof value === 'string' ? String((entryOf(value) as Json).value) : '').toLowerCase();
  const role = ROLES.find((each) => each === name);
  if (!role) throw new ScimError(400, 'invalidValue', `A role is one of ${ROLES.join(', ')}.`);
  return role;
}

function entryOf(text: string): unknown {
  if (text.startsWith('{')) {
    try {
      const parsed: unknown = JSON.parse(text);
      if (isObject(parsed)) return { value: text, ...parsed };
    } catch {
      // Invalid JSON is a plain value.
    }
  }
  return { value: text };
}

interface Names {
  readonly displayName: string | undefined;
  readonly formatted: string | undefined;
  readonly givenName: string | undefined;
  readonly familyName: string | undefined;
}

function namesIn(resource: Json): Names {
  const name = memberOf(resource, 'name');
  const parts = isObject(name) ? name : {};
  return {
    displayName: textIn(resource, 'displayName') || undefined,
    formatted: textIn(parts, 'formatted') || undefined,
    givenName: textIn(parts, 'givenName'),
    familyName: textIn(parts, 'familyName'),
  };
}

const joined = ({ givenName, familyName }: Names): string => `${givenName ?? ''} ${familyName ?? ''}`.trim();

/** Returns a changed name: display name, formatted name or name parts, in this order of precedence. */
function newNameIn(resource: Json, current: ProvisionedUser): string | undefined {
  const names = namesIn(resource);
  const { displayName, formatted } = names;
  if (displayName !== undefined && displayName !== current.fullName) return displayName;
  if (formatted !== undefined && formatted !== current.fullName) return formatted;
  const parts = joined({ ...partsOf(current.fullName), ...withoutUndefined(names) } as Names);
  return parts === '' || parts === current.fullName ? undefined : parts;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const withoutUndefined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;

/** Reads a new user. @throws ScimError invalidValue */
export function newUserOf(resource: Json): NewProvisionedUser {
  const email = textIn(resource, 'userName');
  if (!email) throw new ScimError(400, 'invalidValue', 'userName is required.');
  const names = namesIn(resource);
  const fullName = names.displayName || names.formatted || joined(names) || firstOf(email.split('@'));
  return { email, fullName, ...rest(resource) };
}

/** Reads the changes to a user; absent attributes remain unchanged. @throws ScimError invalidValue */
export function changeOf(resource: Json, current: ProvisionedUser): ProvisionedUserChange {
  const email = textIn(resource, 'userName');
  if (email === '') throw invalidValue('userName');
  const fullName = newNameIn(resource, current);
  return { ...rest(resource), ...(email !== undefined && { email }), ...(fullName !== undefined && { fullName }) };
}

function rest(resource: Json): ProvisionedUserChange {
  const role = roleIn(resource);
  const isActive = activeIn(resource);
  const externalId = textIn(resource, 'externalId');
  return withoutUndefined({ role, isActive, externalId: externalId === '' ? undefined : externalId });
}

export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace';
  /** Undefined if the value contains the attribute names; null for unsupported attributes. */
  readonly path: PatchPath | null | undefined;
  readonly value: unknown;
}

const MAX_OPERATIONS = 10_000;

/** Operation names ignore case, because Entra capitalizes them. @throws ScimError */
export function operationsOf(body: Json): readonly PatchOperation[] {
  const list = memberOf(body, 'operations');
  if (!Array.isArray(list) || list.length === 0) throw new ScimError(400, 'invalidSyntax', 'Operations are missing.');
  if (list.length > MAX_OPERATIONS) throw new ScimError(413, null, `More than ${MAX_OPERATIONS} operations.`);
  return list.map((given: unknown) => {
    if (!isObject(given)) throw new ScimError(400, 'invalidSyntax', 'An operation must be an object.');
    const op = String(memberOf(given, 'op')).toLowerCase();
    if (op !== 'add' && op !== 'remove' && op !== 'replace') {
      throw new ScimError(400, 'invalidSyntax', 'An operation is add, remove or replace.');
    }
    const path = memberOf(given, 'path');
    const value = memberOf(given, 'value');
    if (path !== undefined && path !== null) {
      if (typeof path !== 'string') throw new ScimError(400, 'invalidPath', 'A path must be a text.');
      return { op, path: parsePatchPath(path), value };
    }
    if (op === 'remove') throw new ScimError(400, 'invalidPath', 'The path of what to remove is missing.');
    if (!isObject(value)) throw new ScimError(400, 'invalidSyntax', 'Without a path, the value must be an object.');
    return { op, path: undefined, value };
  });
}

/** Splits each operation without a path into one operation per attribute. */
function* singleOperations(operations: readonly PatchOperation[]): Generator<PatchOperation & { path: PatchPath }> {
  for (const { op, path, value } of operations) {
    if (path) yield { op, path, value };
    if (path !== undefined) continue;
    for (const [name, member] of Object.entries(value as Json)) {
      const parsed = parsePatchPath(name);
      if (parsed) yield { op, path: parsed, value: member };
    }
  }
}

/** Attributes that cannot be removed from a user. */
const REQUIRED: ReadonlySet<string> = new Set(['username', 'active', 'externalid', 'id']);

/** Applies PATCH operations to a user. @throws ScimError */
export function patchedUser(operations: readonly PatchOperation[], current: ProvisionedUser): ProvisionedUserChange {
  const resource: Record<string, unknown> = {};
  const name: Record<string, unknown> = {};
  for (const { op, path, value } of singleOperations(operations)) {
    const { attribute, sub } = path;
    if (op === 'remove') {
      if (REQUIRED.has(attribute)) throw new ScimError(400, 'mutability', `${attribute} cannot be removed.`);
      if (attribute === 'roles') resource.roles = [{ value: 'member' }];
    } else if (attribute === 'name') {
      if (sub !== null) name[sub] = value;
      else if (isObject(value)) Object.assign(name, value);
      else throw invalidValue('name');
    } else if (attribute === 'roles') resource.roles = sub === null ? value : [{ value }];
    else resource[attribute] = value;
  }
  return changeOf({ ...resource, name }, current);
}

/** Returns the ids of added members; unknown ids are invalid. @throws ScimError invalidValue */
function memberIdsOf(value: unknown): readonly UserId[] {
  return [value].flat().map((member) => {
    const id = idOf<UserId>(isObject(member) ? memberOf(member, 'value') : member);
    if (id === null) throw new ScimError(400, 'invalidValue', 'A member must have the id of a user as its value.');
    return id;
  });
}

/** Reads a group. @throws ScimError invalidValue */
export function groupOf(resource: Json): ProvisionedGroupChange {
  const name = textIn(resource, 'displayName');
  const externalId = textIn(resource, 'externalId');
  const members = memberOf(resource, 'members');
  return withoutUndefined({
    name,
    externalId: externalId === '' ? undefined : externalId,
    members: members === undefined || members === null ? undefined : memberIdsOf(members),
  });
}

/** Converts PATCH operations to a group change. @throws ScimError */
export function patchedGroup(operations: readonly PatchOperation[]): ProvisionedGroupChange {
  const resource: Record<string, unknown> = {};
  let members: Set<UserId> | undefined;
  const added = new Set<UserId>();
  const removed = new Set<UserId>();
  const remove = (ids: Iterable<UserId>) => {
    for (const id of ids) {
      added.delete(id);
      members?.delete(id);
      removed.add(id);
    }
  };
  for (const { op, path, value } of singleOperations(operations)) {
    const { attribute, filter } = path;
    if (attribute !== 'members') {
      if (op === 'remove' && attribute === 'displayname') {
        throw new ScimError(400, 'mutability', 'displayName cannot be removed.');
      }
      if (attribute !== 'id') resource[attribute] = op === 'remove' ? null : value;
    } else if (op === 'remove' && (filter || value !== undefined)) {
      // Invalid ids cannot be members, so they are ignored.
      const values = filter
        ? namedValues(filter)
        : [value].flat().map((it) => (isObject(it) ? memberOf(it, 'value') : it));
      remove(values.flatMap((it) => idOf<UserId>(it) ?? []));
    } else if (op === 'add') {
      for (const id of memberIdsOf(value)) {
        removed.delete(id);
        added.add(id);
      }
    } else {
      members = new Set(op === 'remove' || value === null ? [] : memberIdsOf(value));
      added.clear();
      removed.clear();
    }
  }
  const isCleared = resource.externalid === null;
  const { name, externalId } = groupOf(resource);
  return {
    ...withoutUndefined({ name, externalId: isCleared ? null : externalId }),
    ...(members && { members: [...members] }),
    added: [...added],
    removed: [...removed],
  };
}
