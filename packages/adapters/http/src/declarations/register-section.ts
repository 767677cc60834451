import type { Actor } from '@parley/domain/access';
import type { Snapshot, SnapshotLoader, TokenScope } from '@parley/domain/kernel';
import { loadRealm, type Realm } from '@parley/domain/realms';
import { loadOwnUser, loadViewer, type User } from '@parley/domain/users';
import { can, type QueuePresentation } from '../delivery/event-presenter.js';
import type { WireFields } from '../wire/reply.js';
import type { ClientVariant } from '../wire/request.js';
import type { Shape } from '../wire/schema.js';

/** Parameters of a register request except the section selection. */
export interface RegisterRequest {
  readonly presentation: QueuePresentation;
  readonly includeSubscribers: boolean;
  readonly variant: ClientVariant;
  /** Maximum age of presences in days; null for the default. */
  readonly presenceHistoryDays: number | null;
  /** Current time in Unix seconds. */
  readonly now: number;
  /** True for an anonymous caller, represented by a guest viewer without subscriptions (protocol §9). */
  readonly isSpectator: boolean;
  /** Present for a caller with a token for some conversations. */
  readonly scope: TokenScope | undefined;
}

/** Inputs of section presenters besides the section's data. */
export interface SectionContext extends RegisterRequest {
  readonly viewer: Actor;
  /** The viewer's own user. */
  readonly user: User;
  readonly realm: Realm;
}

/** Section of the register response (events §3.2), as declared by its feature. */
export interface SectionDefinition<Data> {
  /** Section name, which clients request unless `fetchEventTypes` is given. */
  readonly name: string;
  /** Event types that clients must all request to receive the section. */
  readonly fetchEventTypes?: readonly string[];
  /** Newer section that replaces this one for clients that request both. */
  readonly replacedBy?: string;
  /**
   * Content for spectators: loaded as for a guest without subscriptions, or fixed fields. Absent if spectators do not
   * receive the section.
   */
  readonly forSpectators?: 'likeGuests' | WireFields;
  /**
   * Content for callers with tokens: that of their account, or the part about their conversations. By default, they
   * receive the fixed fields of spectators or nothing.
   */
  readonly forTokens?: 'likeAccount' | ((data: Data, scope: TokenScope, viewer: Actor) => Data);
  /** Fields of the organization's pages, left out for guests with `lean_state` (extensions §17). */
  readonly notForGuests?: (request: RegisterRequest) => readonly string[];
  /** Schema of the fields, over all variants. */
  readonly fields: Shape;
  /** Schema of the fields for spectators; defaults to `fields`. */
  readonly spectatorFields?: Shape;
  /** Runs inside the snapshot's read and awaits nothing else. */
  readonly load: (snapshot: Snapshot, request: RegisterRequest) => Promise<Data>;
  /** Runs after the read. Potentially long values must be a `PresentedList` or a `PresentedText`. */
  readonly present: (data: Data, context: SectionContext) => WireFields;
}

export interface RegisterSection {
  readonly name: string;
  /** True if the response to a request for these types contains the section; null requests everything. */
  isRequested(fetchEventTypes: ReadonlySet<string> | null): boolean;
  readonly isForSpectators: boolean;
  readonly fields: Shape;
  readonly spectatorFields: Shape;
  /** Loads the section's data and returns a function that presents it after the read. */
  loader(request: RegisterRequest): SnapshotLoader<() => WireFields>;
}

export function registerSection<Data>({
  name,
  fetchEventTypes = [name],
  replacedBy,
  forSpectators,
  forTokens,
  notForGuests,
  fields,
  spectatorFields = fields,
  load,
  present,
}: SectionDefinition<Data>): RegisterSection {
  return {
    name,
    fields,
    spectatorFields,
    isRequested: (types) =>
      types === null ||
      (fetchEventTypes.every((type) => types.has(type)) && !(replacedBy !== undefined && types.has(replacedBy))),
    isForSpectators: forSpectators !== undefined,
    loader: (request) => async (snapshot) => {
      const { isSpectator, scope } = request;
      const fixed = typeof forSpectators === 'object' ? forSpectators : null;
      if (isSpectator && fixed) return () => fixed;
      if (scope && !forTokens) return () => fixed ?? {};
      const viewer = await snapshot.load(loadViewer);
      const user = await snapshot.load(loadOwnUser);
      const realm = await snapshot.load(loadRealm);
      const loaded = await load(snapshot, request);
      const data = scope && typeof forTokens === 'function' ? forTokens(loaded, scope, viewer) : loaded;
      const isLeanGuest = viewer.role === 'guest' && can(request.presentation, 'lean_state');
      const leftOut = (isLeanGuest && notForGuests?.(request)) || [];
      return () => omit(present(data, { ...request, viewer, user, realm }), leftOut);
    },
  };
}

const omit = (fields: WireFields, names: readonly string[]): WireFields =>
  names.length === 0 ? fields : Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** Returns the fields without usual values, which clients with `partial_state` fill in (extensions §18). */
export const unusual = (fields: WireFields, usual: WireFields): WireFields =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(usual[name])),
  );

/** Creates a section computed only from the viewer, the realm and the request; the same with a token. */
export const plainSection = (
  name: string,
  fields: Shape,
  present: (context: SectionContext) => WireFields,
  forSpectators?: SectionDefinition<null>['forSpectators'],
): RegisterSection =>
  registerSection({
    name,
    fields,
    ...(forSpectators && { forSpectators }),
    forTokens: 'likeAccount',
    load: async () => null,
    present: (_data, context) => present(context),
  });

/** Section with the same values for everybody, which clients with `lean_state` do not need. */
export const catalogueSection = (name: string, fields: Shape, values: WireFields): RegisterSection =>
  plainSection(name, fields, ({ presentation }) => (can(presentation, 'lean_state') ? {} : values), 'likeGuests');

/** Placeholder section of an unimplemented feature, with the values of a new organization. */
export const fixedSection = (name: string, fields: Shape, values: WireFields): RegisterSection =>
  plainSection(name, fields, () => values, 'likeGuests');
