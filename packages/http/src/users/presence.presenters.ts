import {
  dummyAddress,
  OFFLINE_SECONDS,
  type PresenceEntry,
  type PresenceList,
  type PresenceTimes,
  publicAddress,
  statusOf,
  type User,
} from '@parley/domain/users';
import { can, type QueuePresentation } from '../events/queue-presentation.js';
import type { WireFields } from '../kernel/reply.js';
import type { PublicRealm } from '../realms/public-realm.js';

/** `modern`: by ids, with two times; `legacy`: by addresses, with a status (users §8.2). */
export type PresenceForm = 'modern' | 'legacy';

export const presenceFormOf = (presentation: QueuePresentation): PresenceForm =>
  presentation.slimPresence || can(presentation, 'simplified_presence_events') ? 'modern' : 'legacy';

/** The clients that there were once are one. */
const CLIENT = 'website';

export const presentTimes = (
  { lastActive, lastConnected }: PresenceTimes,
  user: Pick<User, 'joinedAt'>,
): WireFields => ({
  active_timestamp: lastActive ?? user.joinedAt,
  idle_timestamp: lastConnected,
});

/** Of one client, in the old form. */
export const presentClient = (times: PresenceTimes): WireFields => ({
  [CLIENT]: { client: CLIENT, ...statusOf(times), pushable: false },
});

/** By the address that the viewer knows them by (users §1.4). */
export const presenceAddress = (user: User, { emailDomain }: PublicRealm, isHidden: boolean): string =>
  isHidden ? dummyAddress(user.id, emailDomain) : publicAddress(user, emailDomain);

type MemberForm = PresenceForm | 'legacyHidden';

function memberOf(entry: PresenceEntry, form: MemberForm, publicRealm: PublicRealm): string {
  if (form === 'modern') return `"${entry.userId}":${JSON.stringify(presentTimes(entry, entry.user))}`;
  const aggregated = { client: CLIENT, ...statusOf(entry) };
  const address = JSON.stringify(presenceAddress(entry.user, publicRealm, form === 'legacyHidden'));
  return `${address}:${JSON.stringify({ aggregated, ...presentClient(entry) })}`;
}

/** Entries are new objects whenever they change, so that what was made of them can be kept with them. */
const MEMBERS: Readonly<Record<MemberForm, WeakMap<PresenceEntry, string>>> = {
  modern: new WeakMap(),
  legacy: new WeakMap(),
  legacyHidden: new WeakMap(),
};

/** Of thousands, as JSON text: an object by ids or addresses. */
export function presentPresences(
  { entries, knownIds }: Pick<PresenceList, 'entries' | 'knownIds'>,
  form: PresenceForm,
  publicRealm: PublicRealm,
): string {
  const members = entries.map((entry) => {
    const isHidden = form === 'legacy' && knownIds !== null && !knownIds.has(entry.userId);
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

/** The greatest update id among them; without any, what the client knows already, or -1 (users §8.1). */
export const lastUpdateIdOf = ({ entries, isDisabled }: PresenceList, known: number | null = null): number =>
  isDisabled ? -1 : (entries.at(-1)?.updateId ?? known ?? -1);

/** Of one user, as of now (users §8.3). */
export function presentPresence(entry: PresenceEntry, now: number): WireFields {
  const { status, timestamp } = statusOf(entry);
  const isOffline = now - timestamp > OFFLINE_SECONDS;
  return {
    presence: { aggregated: { status: isOffline ? 'offline' : status, timestamp }, [CLIENT]: { status, timestamp } },
  };
}
