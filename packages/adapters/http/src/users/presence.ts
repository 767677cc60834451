import type { EventOf, RealmId, Snapshot, UserId } from '@parley/domain/kernel';
import {
  dummyAddress,
  GetPresence,
  isOlder,
  ListPresence,
  loadHeldUserIds,
  OFFLINE_SECONDS,
  type PresenceEntry,
  type PresenceEventTypes,
  type PresenceList,
  type PresenceTimes,
  publicAddress,
  ReportPresence,
  statusOf,
  timesAfterSwitch,
  type User,
} from '@parley/domain/users';
import type { HttpFeature, RouteParts, SectionParts } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import {
  can,
  type EventContext,
  form,
  formWithout,
  keyOf,
  opened,
  type Presented,
  type Presenters,
  type QueuePresentation,
} from '../delivery/event-presenter.js';
import { type PublicRealm, publicRealmOf } from '../delivery/public-realm.js';
import { PresentedText } from '../params/json-lists.js';
import { MAX_TEXT_LENGTH, refine, text } from '../params/param-types.js';
import { BooleanParam, IntegerParam, NoParameters, param, TextParam } from '../params/params.js';
import { type WireFields, WireText } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

const status = wire.oneOf('active', 'idle', 'offline');

/** Presence formats (users §8.2): by id with times, or by address with the status per client. */
export const presenceTimes = wire.fields({ active_timestamp: wire.integer(), idle_timestamp: wire.integer() });
const clientPresence = wire.named(
  'ClientPresence',
  wire.fields({
    client: wire.text(),
    status,
    timestamp: wire.integer(),
    pushable: wire.optional(wire.boolean()),
  }),
);
export const presenceByClient = wire.named(
  'PresenceByClient',
  wire.fields({ website: clientPresence, aggregated: wire.optional(clientPresence) }),
);
const entry = wire.named('Presence', wire.anyOf(presenceTimes, presenceByClient));

export const PRESENCES = {
  presences: wire.dictionaryOf(entry),
  server_timestamp: wire.number(),
  presence_last_update_id: wire.integer(),
};

/** Users §8.4. */
export const ALL_PRESENCES = wire.fields({
  presences: PRESENCES.presences,
  server_timestamp: PRESENCES.server_timestamp,
});

/** Absent if the request only reports the caller's presence (users §8.1). */
export const REPORTED_PRESENCE = wire.fields({
  presences: wire.optional(PRESENCES.presences),
  server_timestamp: wire.optional(PRESENCES.server_timestamp),
  presence_last_update_id: wire.optional(PRESENCES.presence_last_update_id),
});

/** Users §8.3. */
export const ONE_PRESENCE = wire.fields({
  presence: wire.dictionaryOf(wire.fields({ status, timestamp: wire.integer() })),
});

/** Presence format: `modern` maps ids to two times, `legacy` maps addresses to a status (users §8.2). */
export type PresenceForm = 'modern' | 'legacy';

export const presenceFormOf = (presentation: QueuePresentation): PresenceForm =>
  presentation.slimPresence || can(presentation, 'simplified_presence_events') ? 'modern' : 'legacy';

/** Client name that replaces all former client names. */
const CLIENT = 'website';

export const presentTimes = (
  { lastActive, lastConnected }: PresenceTimes,
  user: Pick<User, 'joinedAt'>,
): WireFields => ({
  active_timestamp: lastActive ?? user.joinedAt,
  idle_timestamp: lastConnected,
});

/** Presents a client in the legacy format. */
export const presentClient = (times: PresenceTimes): WireFields => ({
  [CLIENT]: { client: CLIENT, ...statusOf(times), pushable: false },
});

/** Returns the address under which the viewer knows the user (users §1.4). */
export const presenceAddress = (user: User, { emailDomain }: PublicRealm, isHidden: boolean): string =>
  isHidden ? dummyAddress(user.id, emailDomain) : publicAddress(user, emailDomain);

type MemberForm = PresenceForm | 'legacyHidden';

function memberOf(entry: PresenceEntry, form: MemberForm, publicRealm: PublicRealm): string {
  if (form === 'modern') return `"${entry.userId}":${JSON.stringify(presentTimes(entry, entry.user))}`;
  const aggregated = { client: CLIENT, ...statusOf(entry) };
  const address = JSON.stringify(presenceAddress(entry.user, publicRealm, form === 'legacyHidden'));
  return `${address}:${JSON.stringify({ aggregated, ...presentClient(entry) })}`;
}

/** Cached per entry, because a changed entry is a new object. */
const MEMBERS: Readonly<Record<MemberForm, WeakMap<PresenceEntry, string>>> = {
  modern: new WeakMap(),
  legacy: new WeakMap(),
  legacyHidden: new WeakMap(),
};

/** Writes presences as JSON text, keyed by id or address; there may be thousands. */
export function presentPresences(
  { entries, visibleIds }: Pick<PresenceList, 'entries' | 'visibleIds'>,
  form: PresenceForm,
  publicRealm: PublicRealm,
): string {
  const members = entries.map((entry) => {
    const isHidden = form === 'legacy' && visibleIds !== null && !visibleIds.has(entry.userId);
    const memberForm = isHidden ? 'legacyHidden' : form;
    const known = MEMBERS[memberForm];
    let text = known.get(entry);
    if (text === undefined) {
      text = memberOf(entry, memberForm, publicRealm);
      known.set(entry, text);
    }
    return text;
  });
  return `{${members.join(',')}}`;
}

/** Returns the highest stored update id; without one, the client's last known id or -1 (users §8.1). */
export const lastUpdateIdOf = ({ entries, isDisabled }: PresenceList, known: number | null = null): number =>
  isDisabled ? -1 : (entries.findLast(({ updateId }) => updateId !== null)?.updateId ?? known ?? -1);

/** Presents the current presence of one user (users §8.3). */
export function presentPresence(entry: PresenceEntry, now: number): WireFields {
  const { status, timestamp } = statusOf(entry);
  const isOffline = isOlder(timestamp, now, OFFLINE_SECONDS);
  return {
    presence: { aggregated: { status: isOffline ? 'offline' : status, timestamp }, [CLIENT]: { status, timestamp } },
  };
}

const CAPABILITY = 'simplified_presence_events';

/** Events §7.4. */
const FORMS = [
  form('presence', { presences: wire.dictionaryOf(presenceTimes) }),
  formWithout(CAPABILITY, 'presence', {
    user_id: wire.integer(),
    email: wire.optional(wire.text()),
    server_timestamp: wire.number(),
    presence: presenceByClient,
  }),
];

export const PRESENCE_EVENTS = {
  'presence.came_online': {
    forms: FORMS,
    needs: ({ user }) => ({ userIds: [user.id] }),
    present: ({ user, times, at }, context) => presentChange(user, times, at, context),
  },
  'user.presence_switched': {
    forms: FORMS,
    needs: ({ user }) => ({ userIds: [user.id] }),
    present: (event, context) => presentSwitch(event, context),
  },
} satisfies Presenters<keyof PresenceEventTypes | 'user.presence_switched'>;

function presentSwitch({ user, at }: EventOf<'user.presence_switched'>, context: EventContext): Presented {
  return presentChange(user, timesAfterSwitch(user.settings.presenceEnabled, at), at, context);
}

/** Events §7.4. */
function presentChange(user: User, times: PresenceTimes, at: number, context: EventContext): Presented {
  const { presentation, publicRealm, receiver } = context;
  const isSimplified = can(presentation, CAPABILITY);
  const { slimPresence } = presentation;
  const isHidden = receiver.inaccessible.has(user.id);
  const fields = () =>
    isSimplified
      ? { presences: { [user.id]: presentTimes(times, user) } }
      : {
          user_id: user.id,
          ...(!slimPresence && { email: presenceAddress(user, publicRealm, isHidden) }),
          server_timestamp: at,
          presence: presentClient(times),
        };
  return [
    [context.shared(keyOf(isSimplified, slimPresence, isHidden), () => opened({ type: 'presence', ...fields() }))],
  ];
}

const DEFAULT_HISTORY_DAYS = 14;
const SECONDS_PER_DAY = 86_400;

/** Returns whether a user is in the client's state, which may be a part of the organization (extensions §18). */
async function heldUsers(snapshot: Snapshot): Promise<(user: User) => boolean> {
  const held = await snapshot.load(loadHeldUserIds);
  if (held === null) return () => true;
  if (held === 'members') return ({ role }) => role !== 'guest';
  const ids = new Set(held);
  return ({ id }) => ids.has(id);
}

export const presenceSection = ({ realmUrls, presence }: SectionParts): RegisterSection =>
  registerSection({
    name: 'presence',
    fields: PRESENCES,
    forSpectators: 'likeGuests',
    load: async (snapshot, { presenceHistoryDays, now, isSpectator }) => {
      const days = presenceHistoryDays ?? DEFAULT_HISTORY_DAYS;
      const since = now - days * SECONDS_PER_DAY;
      if (days <= 0 || isSpectator) {
        const none = { entries: [], visibleIds: null, isDisabled: isSpectator };
        return { ...none, lastUpdateId: lastUpdateIdOf(none) };
      }
      const list = await presence.listFor(snapshot.repositories, snapshot.caller, { after: null, since });
      // Omits users who hide their presence (events §4.5).
      const shown = { ...list, entries: list.entries.filter(({ user }) => user.settings.presenceEnabled) };
      const isHeld = await heldUsers(snapshot);
      const entries = shown.entries.filter(({ user }) => isHeld(user));
      return { ...shown, entries, lastUpdateId: lastUpdateIdOf(shown) };
    },
    forTokens: (list) => ({ ...list, entries: [], lastUpdateId: lastUpdateIdOf({ ...list, entries: [] }) }),
    present: (list, { realm, presentation, now }) => ({
      presences: new PresentedText(
        presentPresences(list, presenceFormOf(presentation), publicRealmOf(realm, realmUrls)),
      ),
      presence_last_update_id: list.lastUpdateId,
      server_timestamp: now,
    }),
  });

const STATUSES: readonly string[] = ['active', 'idle'];
const presenceStatus = refine(text({ max: MAX_TEXT_LENGTH }), (word) =>
  STATUSES.includes(word) ? undefined : `Invalid status: ${word}`,
);

class ReportPresenceDto {
  @param(presenceStatus, { description: 'Presence: `active` or `idle`.' }) status!: 'active' | 'idle';
  @IntegerParam({
    min: -1,
    optional: true,
    description: 'Identifier of the last presence response; only later changes are returned.',
  })
  last_update_id?: number;
  @IntegerParam({ min: 0, description: 'Days for which presence is returned.' }) history_limit_days =
    DEFAULT_HISTORY_DAYS;
  @BooleanParam({ description: "Whether to report only the caller's presence, without returning that of others." })
  ping_only = false;
  @BooleanParam({ description: 'Whether the user has been active since the last report.' }) new_user_input = false;
  @BooleanParam() slim_presence = false;
}

class GetPresenceDto {
  @TextParam({ max: MAX_TEXT_LENGTH, description: 'Id or email address of the user.' }) user_id_or_email!: string;
}

const DIGITS = /^\d{1,15}$/;

export function presenceRoutes({ clock, publicRealms }: Pick<RouteParts, 'clock' | 'publicRealms'>): readonly Route[] {
  const present = async (
    realmId: RealmId,
    list: PresenceList,
    form: PresenceForm,
    more: WireFields = {},
  ): Promise<WireText> => {
    const presences = presentPresences(list, form, await publicRealms.of(realmId));
    const rest = { server_timestamp: clock.nowMs() / 1000, ...more };
    return new WireText(`"presences":${presences},${JSON.stringify(rest).slice(1, -1)}`);
  };
  return [
    route('POST', '/users/me/presence', {
      summary: 'Report your presence and get the presence of others',
      section: 'users §8.1',
      auth: 'user',
      // The response excludes the presence of others.
      scope: { action: 'read', limit: (dto) => ({ dto: { ...dto, ping_only: true } }) },
      roleRequirements: ['human'],
      dto: ReportPresenceDto,
      useCase: ReportPresence,
      toInput: (dto) => ({
        status: dto.status,
        isPingOnly: dto.ping_only,
        lastUpdateId: dto.last_update_id ?? null,
        historyDays: dto.history_limit_days,
      }),
      response: REPORTED_PRESENCE,
      present: async (list, { dto, caller }) => {
        if (!list) return {};
        const form = dto.slim_presence || dto.last_update_id !== undefined ? 'modern' : 'legacy';
        return present(caller.realmId, list, form, {
          presence_last_update_id: lastUpdateIdOf(list, dto.last_update_id),
        });
      },
    }),
    route('GET', '/users/:user_id_or_email/presence', {
      summary: 'Get the presence of a user',
      section: 'users §8.3',
      withoutPage: 'state',
      auth: 'user',
      scope: 'account',
      dto: GetPresenceDto,
      useCase: GetPresence,
      toInput: ({ user_id_or_email: name }) => (DIGITS.test(name) ? { id: Number(name) as UserId } : { email: name }),
      response: ONE_PRESENCE,
      present: (entry) => presentPresence(entry, clock.now()),
    }),
    route('GET', '/realm/presence', {
      summary: 'Get the presence of all users',
      section: 'users §8.4',
      withoutPage: 'state',
      auth: 'user',
      scope: 'account',
      isExpensive: true,
      dto: NoParameters,
      useCase: ListPresence,
      response: ALL_PRESENCES,
      present: (list, { caller }) => present(caller.realmId, list, 'legacy'),
    }),
  ];
}

export const PRESENCE = {
  tag: 'Users',
  routes: presenceRoutes,
  events: PRESENCE_EVENTS,
  registerSections: (parts) => [presenceSection(parts)],
} satisfies HttpFeature;
