import { type Signal, signal } from '@preact/signals-core';
import type { Clock } from '../kernel/ports.js';
import { derived, isSame, isSameDeep, Memo, type Reading } from '../kernel/reactive.js';
import { type ChatState, isActive } from '../kernel/state.js';
import type { PersonCard, PersonRow, ProfileRow } from '../kernel/view-models.js';

const OFFLINE_AFTER_SECONDS = 140;
const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
const ROLES: Readonly<Record<number, PersonCard['role']>> = {
  100: 'owner',
  200: 'administrator',
  300: 'moderator',
  400: 'member',
  600: 'guest',
};
/** Types of profile fields (users §13.1). */
const FIELD = { options: 3, date: 4, link: 5, people: 6, account: 7 };

/** People by id. */
export class People {
  private readonly rows = new Memo((id: number) => this.row(id), isSameDeep);
  private readonly cards = new Memo((id: number) => this.cardOf(id), isSameDeep);
  private readonly ticks: Signal<number> = signal(0);
  /** Ids of active people and bots, in server order. */
  readonly ids: Reading<readonly number[]>;
  /** Ids of active people without bots, by name. */
  readonly byName: Reading<readonly number[]>;
  /** Ids of active people without bots: present people first, each group by name. */
  readonly byPresence: Reading<readonly number[]>;

  constructor(
    private readonly state: ChatState,
    private readonly clock: Clock,
  ) {
    this.ids = derived(
      () => state.people.keys().filter((id) => state.people.peek(id)?.list !== 'realm_non_active_users'),
      isSame,
    );
    this.byName = derived(
      () =>
        state.people
          .values()
          .filter(({ user, list }) => list === 'realm_users' && !user.is_bot)
          .sort((a, b) => COLLATOR.compare(a.user.full_name, b.user.full_name))
          .map(({ user }) => user.user_id),
      isSame,
    );
    this.byPresence = derived(() => {
      // Subscribes once to all presences instead of once per person.
      state.presences.values();
      this.ticks.value;
      const groups = { active: [] as number[], idle: [] as number[], offline: [] as number[] };
      for (const id of this.byName.value) groups[this.presenceNow(id)].push(id);
      return [...groups.active, ...groups.idle, ...groups.offline];
    }, isSame);
  }

  /** Never null: hidden people have an empty name. */
  person(id: number): Reading<PersonRow> {
    return this.rows.at(id);
  }

  /** Profile card; null for hidden people. */
  card(id: number): Reading<PersonCard | null> {
    return this.cards.at(id);
  }

  /** Ids of the members of a group and its subgroups, by name. */
  membersOf(groupId: number): readonly number[] {
    const members = new Set<number>();
    const seen = new Set<number>();
    const visit = (id: number) => {
      const group = this.state.groups.get(id);
      if (!group || seen.has(id)) return;
      seen.add(id);
      // The server does not list guests.
      const listed = group.name === 'role:everyone' ? this.byName.value : group.members;
      for (const member of listed) members.add(member);
      for (const subgroup of group.direct_subgroup_ids) visit(subgroup);
    };
    visit(groupId);
    // Lists bots after people.
    return [...new Set([...this.byName.value.filter((id) => members.has(id)), ...members])];
  }

  /** Updates presences that expired. */
  tick(): void {
    this.ticks.value++;
  }

  private row(id: number): PersonRow {
    const { state } = this;
    const person = state.people.get(id);
    const status = state.statuses.get(id);
    const emoji = status?.emoji_name;
    this.ticks.value;
    state.presences.get(id);
    return {
      id,
      name: person?.user.full_name ?? '',
      avatarUrl: person?.user.avatar_url ?? null,
      isBot: person?.user.is_bot === true,
      isGuest: person?.user.is_guest === true,
      isActive: person !== undefined && isActive(person),
      isKnown: person !== undefined,
      isMuted: isMutedPerson(state, id),
      presence: this.presenceNow(id),
      statusText: status?.status_text ?? '',
      statusEmoji:
        emoji === undefined ? null : { name: emoji, code: status?.emoji_code ?? '', type: status?.reaction_type ?? '' },
    };
  }

  private cardOf(id: number): PersonCard | null {
    const { state } = this;
    const person = state.people.get(id);
    if (!person) return null;
    const { user } = person;
    const presence = state.presences.get(id);
    const lastSeen = Math.max(presence?.active_timestamp ?? 0, presence?.idle_timestamp ?? 0);
    return {
      role: ROLES[user.role] ?? 'member',
      email: user.delivery_email,
      timeZone: user.timezone,
      joinedAt: user.date_joined,
      lastSeenAt: lastSeen === 0 ? null : lastSeen,
      ownerId: user.bot_owner_id ?? null,
      profile: this.profileOf(user.profile_data ?? {}),
    };
  }

  private profileOf(data: Readonly<Record<string, { readonly value: string; readonly rendered_value?: string }>>) {
    return (this.state.fields.get('custom_profile_fields') ?? []).flatMap((field): ProfileRow[] => {
      const given = data[field.id];
      if (!given || given.value === '') return [];
      const { value, rendered_value: html = null } = given;
      const row = {
        id: field.id,
        name: field.name,
        text: value,
        html,
        url: null,
        userIds: [],
        isDate: field.type === FIELD.date,
      };
      switch (field.type) {
        case FIELD.options:
          return [{ ...row, text: parsed<Record<string, { text: string }>>(field.field_data)?.[value]?.text ?? value }];
        case FIELD.link:
          return [{ ...row, url: value }];
        case FIELD.people:
          return [{ ...row, text: '', userIds: parsed<number[]>(value) ?? [] }];
        case FIELD.account: {
          const pattern = parsed<{ url_pattern?: string }>(field.field_data)?.url_pattern;
          return [{ ...row, url: pattern?.replaceAll('%(username)s', encodeURIComponent(value)) ?? null }];
        }
        default:
          return [row];
      }
    });
  }

  /** Reads the presence without observing it. */
  private presenceNow(id: number): PersonRow['presence'] {
    const presence = this.state.presences.peek(id);
    if (!presence) return 'offline';
    const limit = this.state.fields.peek('server_presence_offline_threshold_seconds') ?? OFFLINE_AFTER_SECONDS;
    const since = this.clock.now() / 1000 - limit;
    if (presence.active_timestamp >= since) return 'active';
    return presence.idle_timestamp >= since ? 'idle' : 'offline';
  }
}

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

/** Observed inside computations. */
export const isMutedPerson = (state: ChatState, id: number): boolean =>
  state.fields.get('muted_users')?.some((muted) => muted.id === id) === true;
