import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { useDeferredValue, useMemo, useState } from 'react';
import { Plus, Users, X } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import overlays from '../kit/overlays.module.css';
import { RowList } from '../kit/row-list.js';
import { groupName } from '../people/group-name.js';
import { useChat, useComputed, useField, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import { useManagement } from '../services/use-management.js';
import type { Setting } from './fields.js';
import { DangerousButton, Section, useValues, type Values, ValuesDialog } from './form.js';
import styles from './managing.module.css';
import { MemberList } from './member-list.js';
import { Heading, Missing, SearchField, Tabs } from './page-parts.js';
import { GroupsField, PeopleField } from './pickers.js';

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Groups created by people. */
export function BrowseGroups({ filter }: { readonly filter: string }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { rights } = useManagement();
  const [query, setQuery] = useState('');
  const wanted = useDeferredValue(query.trim());
  const mayCreate = useComputed(() => !rights.isGuest && rights.has('realm_can_create_groups'), [rights]);
  const hasOld = useComputed(() => state.groups.values().some((group) => group.deactivated), [state]);
  const current = ['your', 'deactivated'].includes(filter) ? filter : 'all';
  const groups = useComputed(
    () =>
      state.groups
        .values()
        .filter(
          (group) =>
            !group.is_system_group &&
            group.deactivated === (current === 'deactivated') &&
            (current !== 'your' || group.members.includes(state.selfId)),
        )
        .sort((a, b) => COLLATOR.compare(a.name, b.name)),
    [state, current],
  );
  const found = useMemo(
    () => groups.filter(({ name }) => wanted === '' || rankOf(wanted, name) !== null).map(({ id }) => id),
    [groups, wanted],
  );
  const tab = (key: string, label: string) => ({ href: `#groups/${key}`, label, isCurrent: key === current });
  return (
    <div className={styles.page} data-filling>
      <Heading search={<SearchField label={i18n._('Search groups')} value={query} onChange={setQuery} />}>
        {mayCreate && <CreateButton />}
      </Heading>
      <Tabs
        label={i18n._('Filter')}
        tabs={[
          tab('all', i18n._('All')),
          tab('your', i18n._('Your groups')),
          ...(hasOld ? [tab('deactivated', i18n._('Deactivated'))] : []),
        ]}
      />
      {found.length === 0 ? (
        <p className={styles.empty}>
          {current === 'all' && wanted === ''
            ? i18n._('There are no groups yet. The members of a group are mentioned and get permissions together.')
            : i18n._('No groups found')}
        </p>
      ) : (
        <RowList keys={found} label={i18n._('Groups')} rowHeight={60}>
          {(id) => <GroupLine groupId={id} />}
        </RowList>
      )}
    </div>
  );
}

function CreateButton() {
  const { i18n } = useLingui();
  const { chat, navigation } = useServices();
  const { state } = chat;
  const { api } = useManagement();
  const create = async ({ name, description, members }: Values) => {
    const { group_id: id } = await api.post('/user_groups/create', {
      name: String(name).trim(),
      description: String(description ?? '').trim(),
      members: [...new Set([state.selfId, ...(members as number[])])],
    });
    navigation.navigate(`#groups/${id}`);
  };
  return (
    <button
      type="button"
      className={overlays.primary}
      aria-haspopup="dialog"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => (
          <ValuesDialog
            title={i18n._('Create group')}
            keptAs="new group"
            action={i18n._('Create')}
            values={{ name: '', description: '', members: [] }}
            settings={[
              { name: 'name', label: i18n._('Name'), kind: 'text', maxLength: 100 },
              { name: 'description', label: i18n._('Description'), kind: 'lines', maxLength: 1024 },
              {
                name: 'members',
                label: i18n._('People'),
                kind: 'people',
                hint: i18n._('You are always among them.'),
              },
            ]}
            onSubmit={create}
          />
        ))
      }
    >
      <Plus size={16} aria-hidden /> {i18n._('Create group')}
    </button>
  );
}

function GroupLine({ groupId }: { readonly groupId: number }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const group = useComputed(() => chat.state.groups.get(groupId), [chat, groupId]);
  if (!group) return null;
  return (
    <div className={styles.line}>
      <Users size={18} aria-hidden />
      <a
        className={styles.lineMain}
        href={chat.formatAddress({ view: 'other', path: ['groups', String(groupId), group.name, 'general'] })}
      >
        <span className={styles.lineTitle}>{group.name}</span>
        <span className={styles.lineDetail}>
          {i18n._('{count, plural, one {# person} other {# people}}', { count: group.members.length })}
          {group.description !== '' && ` · ${group.description}`}
        </span>
      </a>
      <JoinButton groupId={groupId} />
    </div>
  );
}

function JoinButton({ groupId }: { readonly groupId: number }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const may = useComputed(() => rights.group(groupId), [rights, groupId]);
  const name = useComputed(() => state.groups.get(groupId)?.name ?? '', [state, groupId]);
  if (!may.join && !may.leave) return null;
  return (
    <button
      type="button"
      className={overlays.button}
      aria-label={may.leave ? i18n._('Leave {name}', { name }) : i18n._('Join {name}', { name })}
      onClick={() =>
        api
          .post('/user_groups/{user_group_id}/members', {
            user_group_id: groupId,
            [may.leave ? 'delete' : 'add']: [state.selfId],
          })
          .catch(reportFailure)
      }
    >
      {may.leave ? i18n._('Leave') : i18n._('Join')}
    </button>
  );
}

interface Props {
  readonly groupId: number;
  readonly section: string;
}

/** Settings, permissions and members of a group. */
export function GroupSettings({ groupId, section }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const management = useManagement();
  const group = useComputed(() => chat.state.groups.get(groupId), [chat, groupId]);
  const source = useMemo(() => management.group(groupId), [management, groupId]);
  const may = useComputed(() => management.rights.group(groupId), [management, groupId]);
  if (!group) return <Missing kind="group" />;
  const current = ['permissions', 'members'].includes(section) ? section : 'general';
  const tab = (key: string, label: string) => ({
    href: chat.formatAddress({ view: 'other', path: ['groups', String(groupId), group.name, key] }),
    label,
    isCurrent: key === current,
  });
  const name = groupName(group, i18n);
  return (
    <div className={styles.page} data-filling={current === 'members' || undefined}>
      <Heading title={name} back={{ href: '#groups/all', label: i18n._('Groups') }}>
        <JoinButton groupId={groupId} />
      </Heading>
      {group.deactivated && <p className={styles.notice}>{i18n._('This group is deactivated.')}</p>}
      <Tabs
        label={name}
        tabs={[
          tab('general', i18n._('General')),
          tab('permissions', i18n._('Permissions')),
          tab('members', i18n._('Members')),
        ]}
      />
      {current === 'general' && (
        <Section
          source={source}
          settings={[
            // The heading translates the names of these groups.
            ...(group.is_system_group
              ? []
              : [{ name: 'name', label: i18n._('Name'), kind: 'text', maxLength: 100 } as const]),
            { name: 'description', label: i18n._('Description'), kind: 'lines', maxLength: 1024 },
          ]}
        >
          {may.manage && <ActivationButton groupId={groupId} />}
        </Section>
      )}
      {current === 'permissions' && <Permissions groupId={groupId} />}
      {current === 'members' && <Members groupId={groupId} />}
    </div>
  );
}

/** Deactivates or reactivates a group. */
function ActivationButton({ groupId }: { readonly groupId: number }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const management = useManagement();
  const group = useComputed(() => state.groups.get(groupId)!, [state, groupId]);
  if (group.deactivated) {
    return (
      <button
        type="button"
        className={overlays.button}
        onClick={() => management.group(groupId).save({ deactivated: false }).catch(reportFailure)}
      >
        {i18n._('Reactivate group')}
      </button>
    );
  }
  const name = groupName(group, i18n);
  return (
    <DangerousButton
      title={i18n._('Deactivate {name}?', { name })}
      action={i18n._('Deactivate')}
      text={i18n._('The group can no longer be mentioned or have permissions.')}
      onConfirm={() => management.api.post('/user_groups/{user_group_id}/deactivate', { user_group_id: groupId })}
    >
      {i18n._('Deactivate group')}
    </DangerousButton>
  );
}

function Permissions({ groupId }: { readonly groupId: number }) {
  const { i18n } = useLingui();
  const management = useManagement();
  const source = useMemo(() => management.group(groupId), [management, groupId]);
  const definitions = useField('server_supported_permission_settings')?.group;
  const permission = (name: keyof NonNullable<typeof definitions>, label: string): Setting => ({
    name,
    label,
    kind: 'permission',
    definition: definitions?.[name],
  });
  return (
    <Section
      source={source}
      settings={[
        permission('can_manage_group', i18n._('Who can change the group?')),
        permission('can_add_members_group', i18n._('Who can add members?')),
        permission('can_remove_members_group', i18n._('Who can remove members?')),
        permission('can_join_group', i18n._('Who can join?')),
        permission('can_leave_group', i18n._('Who can leave?')),
        permission('can_mention_group', i18n._('Who can mention the group?')),
      ]}
    />
  );
}

function Members({ groupId }: { readonly groupId: number }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const may = useComputed(() => rights.group(groupId), [rights, groupId]);
  const group = useComputed(() => state.groups.get(groupId)!, [state, groupId]);
  const { values, change: choose, forget } = useValues({ people: [] }, `people for group ${groupId}`);
  const people = values.people as readonly number[];
  const change = (params: { readonly add?: readonly number[]; readonly delete?: readonly number[] }) =>
    api.post('/user_groups/{user_group_id}/members', { user_group_id: groupId, ...params });
  const changeSubgroups = (ids: readonly number[]) => {
    const former = group.direct_subgroup_ids;
    const add = ids.filter((id) => !former.includes(id));
    const gone = former.filter((id) => !ids.includes(id));
    api
      .post('/user_groups/{user_group_id}/subgroups', {
        user_group_id: groupId,
        ...(add.length > 0 && { add }),
        ...(gone.length > 0 && { delete: gone }),
      })
      .catch(reportFailure);
  };
  return (
    <>
      {may.addMembers && (
        <div className={styles.adding}>
          <PeopleField
            label={i18n._('Add people')}
            without={group.members}
            value={people}
            onChange={(next) => choose({ people: next })}
          />
          <button
            type="button"
            className={overlays.primary}
            disabled={people.length === 0}
            onClick={() => change({ add: people }).then(forget, reportFailure)}
          >
            {i18n._('Add')}
          </button>
        </div>
      )}
      {(may.addMembers || group.direct_subgroup_ids.length > 0) && (
        <div className={overlays.field}>
          <span>{i18n._('Groups whose members also belong to it')}</span>
          <GroupsField
            label={i18n._('Groups whose members also belong to it')}
            value={group.direct_subgroup_ids}
            isDisabled={!may.addMembers}
            onChange={changeSubgroups}
          />
        </div>
      )}
      <MemberList userIds={group.members} label={i18n._('Members')}>
        {(id, name) =>
          may.removeMembers && (
            <IconButton
              icon={X}
              label={i18n._('Remove {name}', { name })}
              onClick={() => change({ delete: [id] }).catch(reportFailure)}
            />
          )
        }
      </MemberList>
    </>
  );
}
