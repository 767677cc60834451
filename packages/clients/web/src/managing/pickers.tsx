import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { ChatState, PermissionDefinition } from '@parley/chat';
import type { GroupSetting, UserGroup } from '@parley/client';
import { useMemo } from 'react';
import { Hash, Lock, Users } from '../icons/icons.js';
import { Avatar } from '../kit/avatar.js';
import { type Pick, PickField } from '../kit/pick-field.js';
import { groupName } from '../people/group-name.js';
import { useChat, useComputed } from '../services/context.js';

interface Props<T> {
  readonly label: string;
  readonly value: T;
  onChange(value: T): void;
  readonly isDisabled?: boolean;
  readonly describedBy?: string | undefined;
}

type IdsProps = Props<readonly number[]>;

interface PeopleProps extends IdsProps {
  /** People to exclude. */
  readonly without?: readonly number[];
}

export function PeopleField({ value, onChange, without, ...field }: PeopleProps) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const people = useComputed(() => peoplePicks(state), [state]);
  const offered = useMemo(() => {
    const others = new Set(without?.map(personKey));
    return people.filter(({ key }) => !others.has(key));
  }, [people, without]);
  return (
    <PickField
      {...field}
      placeholder={i18n._('Names')}
      chosen={picksOf(people, value.map(personKey))}
      options={offered}
      onChange={(keys) => onChange(keys.map(idOf))}
    />
  );
}

export function ChannelsField({ value, onChange, ...field }: IdsProps) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const channels = useComputed(
    () =>
      state.channels
        .values()
        .filter(({ channel }) => !channel.is_archived)
        .map(
          ({ channel }): Pick => ({
            key: `c${channel.stream_id}`,
            name: channel.name,
            icon: channel.invite_only ? <Lock size={14} aria-hidden /> : <Hash size={14} aria-hidden />,
          }),
        ),
    [state],
  );
  return (
    <PickField
      {...field}
      placeholder={i18n._('Channels')}
      chosen={picksOf(
        channels,
        value.map((id) => `c${id}`),
      )}
      options={channels}
      onChange={(keys) => onChange(keys.map(idOf))}
    />
  );
}

/** Groups created by people. */
export function GroupsField({ value, onChange, ...field }: IdsProps) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const groups = useComputed(() => groupPicks(state, i18n), [state, i18n]);
  const made = groups.filter(({ key }) => !state.groups.peek(idOf(key))?.is_system_group);
  return (
    <PickField
      {...field}
      placeholder={i18n._('Groups')}
      chosen={picksOf(groups, value.map(groupKey))}
      options={made}
      onChange={(keys) => onChange(keys.map(idOf))}
    />
  );
}

interface PermissionProps extends Props<GroupSetting | undefined> {
  readonly definition: PermissionDefinition | undefined;
}

/** Groups and people with a permission. */
export function PermissionField({ value, definition, onChange, ...field }: PermissionProps) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const groups = useComputed(() => groupPicks(state, i18n), [state, i18n]);
  const people = useComputed(() => peoplePicks(state), [state]);
  const offered = useMemo(
    () => groups.filter(({ key }) => isOffered(state.groups.peek(idOf(key))!, definition)),
    [groups, definition, state],
  );
  const { direct_members, direct_subgroups } = partsOf(value, state);
  if (definition?.require_system_group) {
    return (
      <select
        aria-label={field.label}
        aria-describedby={field.describedBy}
        disabled={field.isDisabled}
        value={typeof value === 'number' ? value : ''}
        onChange={(event) => onChange(Number(event.target.value))}
      >
        {systemGroups(state)
          .filter((group) => isOffered(group, definition, true))
          .map((group) => (
            <option key={group.id} value={group.id}>
              {groupName(group, i18n)}
            </option>
          ))}
      </select>
    );
  }
  const all = [...offered, ...people];
  const chosen = picksOf([...groups, ...people], [...direct_subgroups.map(groupKey), ...direct_members.map(personKey)]);
  return (
    <PickField
      {...field}
      placeholder={i18n._('Nobody')}
      chosen={chosen}
      options={all}
      onChange={(keys) => onChange(settingOf(keys))}
    />
  );
}

const personKey = (id: number) => `p${id}`;
const groupKey = (id: number) => `g${id}`;
const idOf = (key: string) => Number(key.slice(1));

function settingOf(keys: readonly string[]): GroupSetting {
  const ids = (kind: string) => keys.filter((key) => key.startsWith(kind)).map(idOf);
  const [direct_members, direct_subgroups] = [ids('p'), ids('g')];
  return direct_members.length === 0 && direct_subgroups.length === 1
    ? direct_subgroups[0]!
    : { direct_members, direct_subgroups };
}

/** Groups and people of a permission; the group "nobody" shows as no group. */
function partsOf(value: GroupSetting | undefined, state: ChatState): Exclude<GroupSetting, number> {
  if (typeof value === 'object') return value;
  const isNobody = value === undefined || state.groups.peek(value)?.name === 'role:nobody';
  return { direct_members: [], direct_subgroups: isNobody ? [] : [value] };
}

function isOffered(group: UserGroup, definition: PermissionDefinition | undefined, withNobody = false): boolean {
  if (!group.is_system_group || !definition) return true;
  if (group.name === 'role:internet') return definition.allow_internet_group;
  if (group.name === 'role:everyone' && !definition.allow_everyone_group) return false;
  if (group.name === 'role:nobody') return withNobody && definition.allow_nobody_group;
  const { allowed_system_groups: allowed } = definition;
  return allowed.length === 0 || allowed.includes(group.name);
}

const picksOf = (all: readonly Pick[], keys: readonly string[]): readonly Pick[] => {
  const wanted = new Set(keys);
  const byKey = new Map(all.filter(({ key }) => wanted.has(key)).map((pick) => [pick.key, pick]));
  return keys.map((key) => byKey.get(key) ?? { key, name: '…' });
};

const peoplePicks = (state: ChatState): readonly Pick[] =>
  state.people
    .values()
    .filter(({ list }) => list === 'realm_users')
    .map(({ user }) => ({
      key: personKey(user.user_id),
      name: user.full_name,
      icon: <Avatar url={user.avatar_url} name={user.full_name} size={20} />,
    }));

const ORDER = ['owners', 'administrators', 'moderators', 'fullmembers', 'members', 'everyone', 'internet', 'nobody'];

const systemGroups = (state: ChatState): readonly UserGroup[] =>
  state.groups
    .values()
    .filter((group) => group.is_system_group)
    .sort((a, b) => ORDER.indexOf(a.name.slice(5)) - ORDER.indexOf(b.name.slice(5)));

const groupPicks = (state: ChatState, i18n: I18n): readonly Pick[] => {
  const made = state.groups.values().filter((group) => !group.is_system_group && !group.deactivated);
  return [...systemGroups(state), ...made].map((group) => ({
    key: groupKey(group.id),
    name: groupName(group, i18n),
    icon: <Users size={15} aria-hidden />,
  }));
};
