import type { Actor } from '@parley/domain/access';
import type { Snapshot, SnapshotLoader } from '@parley/domain/kernel';
import { loadRealm, type Realm } from '@parley/domain/realms';
import { loadOwnUser, loadViewer, type User } from '@parley/domain/users';
import type { QueuePresentation } from './event-presenter.js';
import type { WireFields } from './reply.js';
import type { ClientVariant } from './request.js';
import type { Shape } from './wire-schema.js';

/** What the client asked for, beside which sections. */
export interface RegisterRequest {
  readonly presentation: QueuePresentation;
  readonly includeSubscribers: boolean;
  readonly variant: ClientVariant;
  /** How old presences may be, in days; null: as old as usual. */
  readonly presenceHistoryDays: number | null;
  /** In seconds. */
  readonly now: number;
  /** Nobody has logged in: the viewer is a guest who has nothing (protocol §9). */
  readonly isSpectator: boolean;
}

/** What presenters of sections read beside their data. */
export interface SectionContext extends RegisterRequest {
  readonly viewer: Actor;
  /** The viewer's own user. */
  readonly user: User;
  readonly realm: Realm;
}

/** A section of register's answer (events §3.2), as the feature declares it that it is of. */
export interface SectionDefinition<Data> {
  /** Names the section; also what clients ask for it by, unless `fetchEventTypes` says otherwise. */
  readonly name: string;
  /** Clients have to ask for all of them. */
  readonly fetchEventTypes?: readonly string[];
  /** A newer form: clients that ask for it do not get this one. */
  readonly replacedBy?: string;
  /**
   * What those get who have not logged in: what a guest would who has nothing, or just these fields. Absent: nothing of it.
   */
  readonly forSpectators?: 'likeGuests' | WireFields;
  /** What it has, in every form. */
  readonly fields: Shape;
  /** What it has for those who have not logged in; default: the same. */
  readonly spectatorFields?: Shape;
  /** Within the snapshot's read: awaits nothing else. */
  readonly load: (snapshot: Snapshot, request: RegisterRequest) => Promise<Data>;
  /** After the read. Values that may be long are a `PresentedList` or a `PresentedText`. */
  readonly present: (data: Data, context: SectionContext) => WireFields;
}

export interface RegisterSection {
  readonly name: string;
  /** Whether it is in the answer to these types; null: everything was asked for. */
  isRequested(fetchEventTypes: ReadonlySet<string> | null): boolean;
  readonly isForSpectators: boolean;
  readonly fields: Shape;
  readonly spectatorFields: Shape;
  /** Loads its data; what that answers makes the section's fields of it, after the read. */
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

/** A section that is the viewer's user, the realm and the request in another form. */
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

/** A section of a feature that is still to come: what a fresh organization has. */
export const fixedSection = (name: string, fields: Shape, values: WireFields): RegisterSection =>
  plainSection(name, fields, () => values, 'likeGuests');
