import type { Actor } from '@parley/domain/access';
import type { Snapshot, SnapshotLoader } from '@parley/domain/kernel';
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
      if (request.isSpectator && typeof forSpectators === 'object') return () => forSpectators;
      const viewer = await snapshot.load(loadViewer);
      const user = await snapshot.load(loadOwnUser);
      const realm = await snapshot.load(loadRealm);
      const data = await load(snapshot, request);
      return () => present(data, { ...request, viewer, user, realm });
    },
  };
}

/** Creates a section computed only from the viewer, the realm and the request. */
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
    load: async () => null,
    present: (_data, context) => present(context),
  });

/** Section with the same values for everybody, which clients with `lean_state` do not need. */
export const catalogueSection = (name: string, fields: Shape, values: WireFields): RegisterSection =>
  plainSection(name, fields, ({ presentation }) => (can(presentation, 'lean_state') ? {} : values), 'likeGuests');

/** Placeholder section of an unimplemented feature, with the values of a new organization. */
export const fixedSection = (name: string, fields: Shape, values: WireFields): RegisterSection =>
  plainSection(name, fields, () => values, 'likeGuests');
