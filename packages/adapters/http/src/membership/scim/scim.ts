import { DomainError, type ErrorCode, type GroupId, lastOf, parseJson, type UserId } from '@parley/domain/kernel';
import {
  type ExpectedVersion,
  GetProvisionedGroup,
  GetProvisionedUser,
  ListProvisionedGroups,
  ListProvisionedUsers,
  type ProvisionedUser,
  ProvisionGroup,
  ProvisionUser,
  type ResourcePage,
  VerifyProvisioningToken,
} from '@parley/domain/log-in';
import type { HttpFeature, RouteParts } from '../../declarations/feature.js';
import {
  type Authorize,
  type Context,
  type Method,
  type OrganizationClient,
  type Route,
  route,
} from '../../declarations/route.js';
import { changesBetween } from '../../express/request-log.js';
import { MAX_TEXT_LENGTH } from '../../params/param-types.js';
import { type Dto, NoParameters, TextParam } from '../../params/params.js';
import { HttpRefusal, type Reply } from '../../wire/reply.js';
import type { Request } from '../../wire/request.js';
import { type Filter, matches, memberOf, parseFilter, requiredValue, ScimError } from './scim-filter.js';
import {
  changeOf,
  groupOf,
  groupResource,
  idOf,
  type Json,
  newUserOf,
  operationsOf,
  patchedGroup,
  patchedUser,
  userResource,
} from './scim-resources.js';
import { RESOURCE_TYPES, SCHEMAS, serviceProviderConfig } from './scim-schemas.js';

const BASE = '/scim/v2';
const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

const MAX_USERS_PER_PAGE = 200;
const MAX_GROUPS_PER_PAGE = 100;

class ListDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) filter = '';
  @TextParam({ max: 20 }) startIndex = '1';
  @TextParam({ max: 20, optional: true }) count?: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) attributes = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) excludedAttributes = '';
}

class ResourceDto {
  @TextParam({ max: 100 }) id!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) attributes = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) excludedAttributes = '';
}

class NamedDto {
  @TextParam({ max: 100 }) id!: string;
}

/** Responses contain personal data (RFC 7644, section 7.4). */
const NEVER_STORED = 'no-store';

const noContent = (headers: readonly string[] = []): Reply => ({
  status: 204,
  body: '',
  cacheControl: NEVER_STORED,
  headers,
});

const reply = (status: number, body: Json, headers: readonly string[] = []): Reply => ({
  status,
  body: JSON.stringify(body),
  contentType: 'application/scim+json',
  cacheControl: NEVER_STORED,
  headers,
});

/** Error response (RFC 7644, section 3.12). */
const errorReply = (status: number, scimType: string | null, detail: string, headers: readonly string[] = []): Reply =>
  reply(status, { schemas: [ERROR_SCHEMA], status: String(status), ...(scimType && { scimType }), detail }, headers);

type Kind = 'Users' | 'Groups';

const DOMAIN_ERRORS: { readonly [C in ErrorCode]?: readonly [status: number, scimType: string | null] } = {
  UNKNOWN_GROUP: [404, null],
  STALE_RESOURCE: [412, null],
  TOO_MANY_VALUES: [413, null],
  EMAIL_TAKEN: [409, 'uniqueness'],
  USER_NAME_TAKEN: [409, 'uniqueness'],
  GROUP_NAME_TAKEN: [409, 'uniqueness'],
  EXTERNAL_ID_TAKEN: [409, 'uniqueness'],
  IMMUTABLE_VALUE: [400, 'mutability'],
  LAST_OWNER: [400, 'mutability'],
  GUEST_CANNOT_ADMINISTER: [400, 'mutability'],
};

/** Returns null for errors that the client did not cause. */
function errorReplyOf(error: unknown, kind: Kind): Reply | null {
  if (error instanceof ScimError) return errorReply(error.status, error.scimType, error.message);
  if (!(error instanceof DomainError) || error.kind === 'unavailable') return null;
  // UNKNOWN_USER may also concern a member named in a group request.
  const isMissing = error.is('UNKNOWN_USER') && kind === 'Users';
  const { code }: DomainError = error;
  const [status, scimType] = isMissing ? [404, null] : (DOMAIN_ERRORS[code] ?? [400, 'invalidValue']);
  return errorReply(status, scimType, error.message);
}

const BEARER = /^bearer +([\w.~+/=-]{1,200})$/i;

const authorize: Authorize = async (request, realmId, resolve) => {
  const token = BEARER.exec(request.header('authorization') ?? '')?.[1];
  const found = token === undefined ? null : await resolve(VerifyProvisioningToken).execute(realmId, token);
  if (found) return { realmId: found.realmId, name: `SCIM: ${found.name}` };
  const headers = ['WWW-Authenticate', 'Bearer realm="parley"'];
  throw new HttpRefusal(401, 'UNAUTHORIZED', 'The token is missing or not valid.', {}, headers);
};

/** Request from a SCIM client. */
interface Visit<D> extends Pick<Context<'program', D, unknown>, 'dto' | 'request' | 'resolve'> {
  readonly client: OrganizationClient;
  /** URL of the organization. */
  readonly url: string;
}

function scimRoute<D extends object>(
  parts: RouteParts,
  [method, path]: readonly [Method, string],
  kind: Kind,
  dto: Dto<D>,
  handle: (visit: Visit<D>) => Promise<Reply>,
): Route {
  return route<'program', D, never>(method, BASE + path, {
    summary: null,
    auth: 'program',
    dto,
    atRoot: true,
    authorize,
    body: 'raw',
    limit: 'provisioning_by_organization',
    errorPage: ({ status, message, headers }) => errorReply(status, null, message, headers),
    handle: async (context) => {
      const client = context.client!;
      const url = parts.realmUrls.urlOf(await parts.publicRealms.load(client.realmId));
      try {
        return await handle({ ...context, client, url });
      } catch (error) {
        const known = errorReplyOf(error, kind);
        if (known) return known;
        throw error;
      }
    },
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws ScimError invalidSyntax */
function bodyOf({ content }: Request): Json {
  try {
    const value = parseJson(utf8.decode(content ?? new Uint8Array()));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  } catch {
    // Handled below.
  }
  throw new ScimError(400, 'invalidSyntax', 'The body must be a JSON object.');
}

/** Parses `If-Match`, which lists the versions known to the client. */
function expectedVersion(request: Request): ExpectedVersion {
  const header = request.header('if-match');
  if (header === undefined || header.trim() === '*') return null;
  return (version) => isListed(header, version);
}

const isListed = (header: string, version: string): boolean =>
  header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === `"${version}"`);

/** @throws ScimError invalidValue */
function integerOf(text: string, name: string): number {
  if (!/^-?\d{1,9}$/.test(text.trim())) throw new ScimError(400, 'invalidValue', `${name} must be an integer.`);
  return Number(text);
}

const namesIn = (list: string): readonly string[] =>
  list.split(',').flatMap((name) => lastOf(name.trim().toLowerCase().split(':')).split('.')[0] || []);

const ALWAYS = ['schemas', 'id', 'meta'];

/** Omits attributes that the client excludes. */
function selected(
  resource: Json,
  { attributes, excludedAttributes }: Pick<ListDto, 'attributes' | 'excludedAttributes'>,
) {
  const [wanted, unwanted] = [namesIn(attributes), namesIn(excludedAttributes)];
  if (wanted.length === 0 && unwanted.length === 0) return resource;
  const isShown = (name: string) =>
    ALWAYS.includes(name) || (wanted.length > 0 ? wanted.includes(name) : !unwanted.includes(name));
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isShown(name.toLowerCase())));
}

interface Page {
  readonly filter: Filter | null;
  readonly offset: number;
  readonly count: number;
}

/** `startIndex` begins at 1; smaller values mean 1, and negative counts mean 0 (RFC 7644, section 3.4.2.4). */
function pageOf({ filter, startIndex, count }: ListDto, maxCount: number): Page {
  const wanted = count === undefined ? maxCount : integerOf(count, 'count');
  return {
    filter: filter.trim() === '' ? null : parseFilter(filter),
    offset: Math.max(1, integerOf(startIndex, 'startIndex')) - 1,
    count: Math.min(Math.max(0, wanted), maxCount),
  };
}

/** Parses a list query from a body (RFC 7644, section 3.4.3). @throws ScimError invalidValue */
function searchOf(body: Json): ListDto {
  const textAt = (name: string): string | undefined => {
    const value = memberOf(body, name.toLowerCase());
    if (value === undefined || value === null) return undefined;
    const text = Array.isArray(value) ? value.join(',') : value;
    if (typeof text !== 'string' && typeof text !== 'number') {
      throw new ScimError(400, 'invalidValue', `${name} is not valid.`);
    }
    return String(text);
  };
  const query = new ListDto();
  query.filter = textAt('filter') ?? '';
  query.startIndex = textAt('startIndex') ?? '1';
  const count = textAt('count');
  if (count !== undefined) query.count = count;
  query.attributes = textAt('attributes') ?? '';
  query.excludedAttributes = textAt('excludedAttributes') ?? '';
  return query;
}

/** Routes that list resources by query parameters or by a query in the body. */
const listRoutes = (
  parts: RouteParts,
  kind: Kind,
  list: (visit: Visit<ListDto>) => Promise<Reply>,
): readonly Route[] => [
  scimRoute(parts, ['GET', `/${kind}`], kind, ListDto, list),
  scimRoute(parts, ['POST', `/${kind}/.search`], kind, NoParameters, (visit) =>
    list({ ...visit, dto: searchOf(bodyOf(visit.request)) }),
  ),
];

function listReply<V>({ total, views }: ResourcePage<V>, { offset }: Page, present: (view: V) => Json): Reply {
  return reply(200, {
    schemas: [LIST_SCHEMA],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: views.length,
    Resources: views.map(present),
  });
}

/** Response with one resource and its version. */
function resourceReply(status: number, resource: Json, request?: Request): Reply {
  const { version, location } = resource.meta as { readonly version: string; readonly location: string };
  const known = request?.header('if-none-match');
  if (known !== undefined && isListed(known, version.slice(3, -1))) {
    return { ...noContent(['ETag', version]), status: 304 };
  }
  return reply(status, resource, ['ETag', version, ...(status === 201 ? ['Location', location] : [])]);
}

/** @throws ScimError 404 */
function targetOf<I extends UserId | GroupId>(id: string): I {
  const found = idOf<I>(id);
  if (found !== null) return found;
  throw new ScimError(404, null, `There is no resource ${id}.`);
}

const auditedState = ({ email, externalId, fullName, role, isActive }: ProvisionedUser) => ({
  email,
  externalId,
  fullName,
  role,
  isActive,
});

function userRoutes(parts: RouteParts): readonly Route[] {
  const kind = 'Users';
  const changeRoute = (method: 'PUT' | 'PATCH') =>
    scimRoute(parts, [method, '/Users/:id'], kind, ResourceDto, async ({ client, url, dto, request, resolve }) => {
      const body = bodyOf(request);
      const operations = method === 'PATCH' ? operationsOf(body) : null;
      let before: ProvisionedUser | null = null;
      const user = await resolve(ProvisionUser).change(
        client.realmId,
        targetOf<UserId>(dto.id),
        (current) => {
          before = current;
          return operations ? patchedUser(operations, current) : changeOf(body, current);
        },
        expectedVersion(request),
      );
      const changes = changesBetween(auditedState(before!), auditedState(user));
      return { ...resourceReply(200, selected(userResource(url, user), dto)), audit: { changes } };
    });
  return [
    ...listRoutes(parts, kind, async ({ client, url, dto, resolve }) => {
      const page = pageOf(dto, MAX_USERS_PER_PAGE);
      const { filter } = page;
      const email =
        filter && (requiredValue(filter, 'username', [null]) ?? requiredValue(filter, 'emails', [null, 'value']));
      const externalId = filter && requiredValue(filter, 'externalid', [null]);
      const id = filter && requiredValue(filter, 'id', [null]);
      const users = await resolve(ListProvisionedUsers).execute(client.realmId, {
        ...page,
        lookup:
          id !== null && id !== undefined
            ? { id: idOf<UserId>(id) ?? (0 as UserId) }
            : email !== null && email !== undefined
              ? { email }
              : externalId !== null && externalId !== undefined
                ? { externalId }
                : null,
        isWanted: filter && ((user) => matches(filter, userResource(url, user))),
      });
      return listReply(users, page, (user) => selected(userResource(url, user), dto));
    }),
    scimRoute(parts, ['GET', '/Users/:id'], kind, ResourceDto, async ({ client, url, dto, request, resolve }) => {
      const user = await resolve(GetProvisionedUser).execute(client.realmId, targetOf<UserId>(dto.id));
      return resourceReply(200, selected(userResource(url, user), dto), request);
    }),
    scimRoute(parts, ['POST', '/Users'], kind, NoParameters, async ({ client, url, request, resolve }) => {
      const user = await resolve(ProvisionUser).create(client.realmId, newUserOf(bodyOf(request)));
      const audit = { target: { id: String(user.id) }, changes: changesBetween({}, auditedState(user)) };
      return { ...resourceReply(201, userResource(url, user)), audit };
    }),
    changeRoute('PUT'),
    changeRoute('PATCH'),
    scimRoute(parts, ['DELETE', '/Users/:id'], kind, ResourceDto, async ({ client, dto, request, resolve }) => {
      await resolve(ProvisionUser).remove(client.realmId, targetOf<UserId>(dto.id), expectedVersion(request));
      return noContent();
    }),
  ];
}

function groupRoutes(parts: RouteParts): readonly Route[] {
  const kind = 'Groups';
  return [
    ...listRoutes(parts, kind, async ({ client, url, dto, resolve }) => {
      const page = pageOf(dto, MAX_GROUPS_PER_PAGE);
      const { filter } = page;
      const [id, memberId, name, externalId] = [
        filter && requiredValue(filter, 'id', [null]),
        filter && requiredValue(filter, 'members', [null, 'value']),
        filter && requiredValue(filter, 'displayname', [null]),
        filter && requiredValue(filter, 'externalid', [null]),
      ].map((value) => value ?? null) as [string | null, string | null, string | null, string | null];
      const groups = await resolve(ListProvisionedGroups).execute(client.realmId, {
        ...page,
        lookup:
          id !== null
            ? { id: idOf<GroupId>(id) ?? (0 as GroupId) }
            : memberId !== null
              ? { memberId: idOf<UserId>(memberId) ?? (0 as UserId) }
              : name !== null
                ? { name }
                : externalId !== null
                  ? { externalId }
                  : null,
        isWanted: filter && ((group) => matches(filter, groupResource(url, group))),
      });
      return listReply(groups, page, (group) => selected(groupResource(url, group), dto));
    }),
    scimRoute(parts, ['GET', '/Groups/:id'], kind, ResourceDto, async ({ client, url, dto, request, resolve }) => {
      const group = await resolve(GetProvisionedGroup).execute(client.realmId, targetOf<GroupId>(dto.id));
      return resourceReply(200, selected(groupResource(url, group), dto), request);
    }),
    scimRoute(parts, ['POST', '/Groups'], kind, NoParameters, async ({ client, url, request, resolve }) => {
      const { name, ...more } = groupOf(bodyOf(request));
      if (name === undefined) throw new ScimError(400, 'invalidValue', 'displayName is required.');
      const group = await resolve(ProvisionGroup).create(client.realmId, { name, ...more });
      const audit = { target: { id: String(group.id) }, changes: { name: { from: null, to: group.name } } };
      return { ...resourceReply(201, groupResource(url, group)), audit };
    }),
    scimRoute(parts, ['PUT', '/Groups/:id'], kind, ResourceDto, async ({ client, url, dto, request, resolve }) => {
      const id = targetOf<GroupId>(dto.id);
      const { members = [], ...change } = groupOf(bodyOf(request));
      await resolve(ProvisionGroup).change(client.realmId, id, { ...change, members }, expectedVersion(request));
      const group = await resolve(GetProvisionedGroup).execute(client.realmId, id);
      return resourceReply(200, selected(groupResource(url, group), dto));
    }),
    // Groups may be long, so the response contains the group only on request.
    scimRoute(parts, ['PATCH', '/Groups/:id'], kind, ResourceDto, async ({ client, url, dto, request, resolve }) => {
      const id = targetOf<GroupId>(dto.id);
      const change = patchedGroup(operationsOf(bodyOf(request)));
      await resolve(ProvisionGroup).change(client.realmId, id, change, expectedVersion(request));
      const { added = [], removed = [], members } = change;
      const audit = { changedMembers: { added: added.length, removed: removed.length, all: members?.length } };
      const resource = groupResource(url, await resolve(GetProvisionedGroup).execute(client.realmId, id));
      const { version } = resource.meta as { readonly version: string };
      if (dto.attributes === '') return { ...noContent(['ETag', version]), audit };
      return { ...resourceReply(200, selected(resource, dto)), audit };
    }),
    scimRoute(parts, ['DELETE', '/Groups/:id'], kind, ResourceDto, async ({ client, dto, request, resolve }) => {
      await resolve(ProvisionGroup).remove(client.realmId, targetOf<GroupId>(dto.id), expectedVersion(request));
      return noContent();
    }),
  ];
}

/** Discovery endpoints (RFC 7644, section 4). */
function descriptionRoutes(parts: RouteParts): readonly Route[] {
  const config = serviceProviderConfig({ maxResults: MAX_USERS_PER_PAGE });
  const list = (resources: readonly Json[]) =>
    reply(200, {
      schemas: [LIST_SCHEMA],
      totalResults: resources.length,
      startIndex: 1,
      itemsPerPage: resources.length,
      Resources: resources,
    });
  const one = (resources: readonly Json[], id: string) => {
    const found = resources.find((resource) => resource.id === id);
    if (!found) throw new ScimError(404, null, `There is no resource ${id}.`);
    return reply(200, found);
  };
  const described = (path: string, resources: readonly Json[]): readonly Route[] => [
    scimRoute(parts, ['GET', path], 'Users', NoParameters, async () => list(resources)),
    scimRoute(parts, ['GET', `${path}/:id`], 'Users', NamedDto, async ({ dto }) => one(resources, dto.id)),
  ];
  return [
    scimRoute(parts, ['GET', '/ServiceProviderConfig'], 'Users', NoParameters, async () => reply(200, config)),
    ...described('/ResourceTypes', RESOURCE_TYPES),
    ...described('/Schemas', SCHEMAS),
  ];
}

/** User and group provisioning by SCIM 2.0 (RFC 7643, RFC 7644). */
export const SCIM = {
  routes: (parts) => [...userRoutes(parts), ...groupRoutes(parts), ...descriptionRoutes(parts)],
} satisfies HttpFeature;
