import type { GroupSetting, InitialState, User } from '@parley/client';
import { type ChatState, type EventRules, type Fields, type StatePart, without } from '../kernel/state.js';
import { applyPresences, presencesOf } from './presence.js';

const LISTS = ['realm_users', 'realm_non_active_users', 'cross_realm_bots'] as const;

const entriesOf = (answer: Partial<InitialState>) =>
  LISTS.flatMap((list) => (answer[list] ?? []).map((user) => [user.user_id, { user, list }] as const));

export const PEOPLE_PART: StatePart = {
  begin(state, answer) {
    state.people.reset(entriesOf(answer));
    state.statuses.reset(Object.entries(answer.user_status ?? {}).map(([id, status]) => [Number(id), status]));
    state.presences.reset(presencesOf(answer));
  },
  add(state, answer, isWanted) {
    for (const [id, person] of entriesOf(answer)) {
      if (isWanted(id) && !state.people.peek(id)) state.people.set(id, person);
    }
    applyPresences(state, presencesOf(answer));
  },
  present(state) {
    const people = [...state.people.all().values()];
    return {
      ...Object.fromEntries(LISTS.map((list) => [list, people.flatMap((it) => (it.list === list ? it.user : []))])),
      user_status: Object.fromEntries(state.statuses.all()),
      presences: Object.fromEntries(state.presences.all()),
    };
  },
};

export const PEOPLE_RULES: Pick<
  EventRules,
  'realm_user' | 'realm_bot' | 'user_status' | 'presence' | 'muted_users' | 'typing' | 'typing_edit_message'
> = {
  realm_user(state, event) {
    const { user_id } = event.person;
    switch (event.op) {
      case 'add': {
        const { is_active: _, ...user } = event.person;
        state.people.set(user_id, { user, list: 'realm_users' });
        return;
      }
      case 'remove':
        state.people.delete(user_id);
        state.statuses.delete(user_id);
        state.presences.delete(user_id);
        return;
      case 'update':
        changePerson(state, event.person);
    }
  },
  realm_bot(state, event) {
    state.fields.change('realm_bots', (bots) => {
      const { bot } = event;
      const others = bots.filter(({ user_id }) => user_id !== bot.user_id);
      if (event.op === 'add') return [...others, event.bot];
      if (event.op === 'delete') return others;
      return bots.map((entry) => (entry.user_id === bot.user_id ? { ...entry, ...event.bot } : entry));
    });
  },
  user_status(state, { type: _, id: __, user_id, ...changed }) {
    const status = { ...state.statuses.peek(user_id), ...changed };
    if (!status.away) delete status.away;
    if (!status.status_text) delete status.status_text;
    if (!status.emoji_name)
      for (const name of ['emoji_name', 'emoji_code', 'reaction_type'] as const) delete status[name];
    if (Object.keys(status).length > 0) state.statuses.set(user_id, status);
    else state.statuses.delete(user_id);
  },
  presence: (state, event) => applyPresences(state, presencesOf(event)),
  muted_users: (state, event) => state.fields.set('muted_users', event.muted_users),
  typing() {},
  typing_edit_message() {},
};

type Change = Extract<Parameters<(typeof PEOPLE_RULES)['realm_user']>[1], { op: 'update' }>['person'];

/** All properties changed by events. */
interface Changes extends Partial<User> {
  readonly user_id: number;
  readonly new_email?: string;
  readonly custom_profile_field?: {
    readonly id: number;
    readonly value: string | null;
    readonly rendered_value?: string;
  };
}

function changePerson(state: ChatState, person: Change): void {
  const { user_id, is_active, new_email, role, custom_profile_field: value, ...others } = person as Changes;
  const changed = {
    ...others,
    ...(new_email !== undefined && { email: new_email }),
    ...(role !== undefined && { role, is_owner: role === 100, is_admin: role <= 200, is_guest: role === 600 }),
  };
  state.people.change(user_id, (entry) => {
    let user = assigned(entry.user, changed);
    if (value && entry.list !== 'cross_realm_bots') user = withProfileValue(user, value);
    if (is_active === undefined) return { ...entry, user };
    return { user, list: is_active ? 'realm_users' : 'realm_non_active_users' };
  });
  if (is_active === false) leaveAllGroups(state, user_id);
  if (user_id !== state.selfId) return;
  // Administrators receive a different bot list, which no event contains (events §9 row 5).
  if (changed.is_admin !== undefined && changed.is_admin !== state.fields.peek('is_admin')) {
    state.fields.table.set('realm_bots', null);
  }
  for (const [name, own] of Object.entries(changed) as [keyof Fields, unknown][]) {
    if (state.fields.table.peek(name) !== undefined) state.fields.table.set(name, own);
  }
  if (role !== undefined) state.fields.set('is_moderator', role <= 300);
}

/**
 * Assigns known properties only, because an event about a person includes fields visible only to them. `external_id` is
 * absent unless assigned; null removes it.
 */
function assigned(user: User, changed: object): User {
  const all = Object.entries({ ...user, ...changed });
  return Object.fromEntries(
    all.filter(([name, value]) => (name === 'external_id' ? value !== null : name in user)),
  ) as unknown as User;
}

function withProfileValue(user: User, { id, value, ...rendered }: NonNullable<Changes['custom_profile_field']>): User {
  const { [id]: _, ...profile } = user.profile_data ?? {};
  return { ...user, profile_data: value === null ? profile : { ...profile, [id]: { value, ...rendered } } };
}

/** Removes a deactivated user from all groups, because no event lists these groups (users §4.1). */
function leaveAllGroups(state: ChatState, userId: number): void {
  for (const [id, group] of state.groups.all()) {
    state.groups.set(id, { ...withoutMember(group, userId), members: [...without(group.members, [userId])] });
  }
  for (const [id, entry] of state.channels.all()) {
    state.channels.set(id, { ...entry, channel: withoutMember(entry.channel, userId) });
  }
  for (const [name, value] of state.fields.table.all()) {
    const left = leftSetting(value, userId);
    if (left !== value) state.fields.table.set(name, left);
  }
}

/** Removes a user from all permissions of an object. */
function withoutMember<T extends object>(thing: T, userId: number): T {
  const changed = Object.entries(thing).filter(([, value]) => leftSetting(value, userId) !== value);
  if (changed.length === 0) return thing;
  return { ...thing, ...Object.fromEntries(changed.map(([name, value]) => [name, leftSetting(value, userId)])) };
}

function leftSetting(value: unknown, userId: number): unknown {
  const setting = value as Exclude<GroupSetting, number> | null;
  if (typeof setting !== 'object' || !setting?.direct_members?.includes(userId)) return value;
  return { ...setting, direct_members: without(setting.direct_members, [userId]) };
}
