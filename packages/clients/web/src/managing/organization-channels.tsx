import { useLingui } from '@lingui/react';
import type { Management } from '@parley/chat';
import type { Channel, DefaultChannelGroup } from '@parley/client';
import { useChat, useComputed, useField } from '../services/context.js';
import { useManagement } from '../services/use-management.js';
import { Collection } from './collection.js';
import type { Setting } from './fields.js';
import type { Values } from './form.js';
import { str, text } from './organization-lists.js';

/** Channels to which new people are subscribed. */
export function DefaultChannels() {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const mayEdit = useComputed(() => rights.isAdmin, [rights]);
  const items = useComputed(
    () => (state.fields.get('realm_default_streams') ?? []).flatMap((id) => state.channels.get(id)?.channel ?? []),
    [state],
  );
  return (
    <Collection<Channel>
      label={i18n._('Default channels')}
      hint={i18n._('New people are subscribed to these channels.')}
      none={i18n._('There are no default channels.')}
      items={items}
      keyOf={({ stream_id }) => stream_id}
      nameOf={({ name }) => name}
      detailOf={({ description }) => description}
      {...(mayEdit && {
        add: {
          label: i18n._('Add default channel'),
          values: { channels: [] },
          settings: [{ name: 'channels', label: i18n._('Channels'), kind: 'channels' }],
          isComplete: ({ channels }: Values) => (channels as readonly number[]).length > 0,
          onSubmit: async ({ channels }: Values) => {
            for (const id of channels as readonly number[]) await api.post('/default_streams', { stream_id: id });
          },
        },
        remove: {
          action: i18n._('Remove'),
          text: i18n._('Subscribers stay in the channel.'),
          onConfirm: ({ stream_id }: Channel) => api.delete('/default_streams', { stream_id }),
        },
      })}
    />
  );
}

/** Sends only what has changed. */
async function changeGroup(
  api: Management['api'],
  group: DefaultChannelGroup,
  { name, description, channels = group.streams }: Values,
  namesOf: (channelIds: unknown) => string[],
): Promise<void> {
  const changeChannels = async (op: 'add' | 'remove', ids: readonly number[]) => {
    if (ids.length > 0) {
      await api.patch('/default_stream_groups/{group_id}/streams', {
        group_id: group.id,
        op,
        stream_names: namesOf(ids),
      });
    }
  };
  const ids = channels as readonly number[];
  if (name !== undefined || description !== undefined) {
    await api.patch('/default_stream_groups/{group_id}', {
      group_id: group.id,
      ...(name !== undefined && { new_group_name: str(name) }),
      ...(description !== undefined && { new_description: str(description) }),
    });
  }
  await changeChannels(
    'add',
    ids.filter((id) => !group.streams.includes(id)),
  );
  await changeChannels(
    'remove',
    group.streams.filter((id) => !ids.includes(id)),
  );
}

/** Channel sets offered on sign-up. */
export function DefaultChannelGroups() {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const mayEdit = useComputed(() => rights.isAdmin, [rights]);
  const items = useField('realm_default_stream_groups') ?? [];
  const namesOf = (ids: unknown) =>
    (ids as readonly number[]).flatMap((id) => state.channels.peek(id)?.channel.name ?? []);
  const settings: readonly Setting[] = [
    text('name', i18n._('Name')),
    { name: 'description', label: i18n._('Description'), kind: 'lines' },
    { name: 'channels', label: i18n._('Channels'), kind: 'channels' },
  ];
  return (
    <Collection<DefaultChannelGroup>
      label={i18n._('Default channel groups')}
      hint={i18n._('People choose groups of channels when they sign up. Default channels cannot be in a group.')}
      none={i18n._('There are no groups of channels.')}
      items={items}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      detailOf={({ description, streams }) =>
        [
          description,
          namesOf(streams)
            .map((name) => `#${name}`)
            .join(', '),
        ]
          .filter(Boolean)
          .join(' · ')
      }
      {...(mayEdit && {
        add: {
          label: i18n._('Add group of channels'),
          values: { channels: [] },
          settings,
          onSubmit: ({ name, description, channels }: Values) =>
            api.post('/default_stream_groups/create', {
              group_name: str(name),
              description: str(description),
              stream_names: namesOf(channels),
            }),
        },
        edit: {
          title: i18n._('Edit group of channels'),
          settingsOf: () => settings,
          valuesOf: ({ name, description, streams }: DefaultChannelGroup) => ({ name, description, channels: streams }),
          onSubmit: (group: DefaultChannelGroup, changes: Values) => changeGroup(api, group, changes, namesOf),
        },
        remove: {
          action: i18n._('Remove'),
          text: i18n._('Its channels and their subscribers stay.'),
          onConfirm: ({ id }: DefaultChannelGroup) => api.delete('/default_stream_groups/{group_id}', { group_id: id }),
        },
      })}
    />
  );
}

export function ChannelFolders() {
  const { i18n } = useLingui();
  const { api, rights } = useManagement();
  const items = (useField('channel_folders') ?? []).filter((folder) => !folder.is_archived);
  const archived = (useField('channel_folders') ?? []).filter((folder) => folder.is_archived);
  const mayEdit = useComputed(() => rights.isAdmin, [rights]);
  type Folder = (typeof items)[number];
  const settings: readonly Setting[] = [
    text('name', i18n._('Name')),
    { name: 'description', label: i18n._('Description'), kind: 'lines' },
  ];
  return (
    <Collection<Folder>
      label={i18n._('Channel folders')}
      hint={i18n._('They group channels in the sidebar and in the inbox.')}
      none={i18n._('There are no folders.')}
      items={items}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      detailOf={({ description }) => description}
      {...(mayEdit && {
        add: {
          label: i18n._('Add folder'),
          settings,
          onSubmit: ({ name, description }: Values) =>
            api.post('/channel_folders/create', { name: str(name), description: str(description) }),
        },
        edit: {
          title: i18n._('Edit folder'),
          settingsOf: () => settings,
          valuesOf: ({ name, description }: Folder) => ({ name, description }),
          onSubmit: ({ id }: Folder, changes: Values) =>
            api.patch('/channel_folders/{channel_folder_id}', { channel_folder_id: id, ...changes }),
        },
        remove: {
          action: i18n._('Archive'),
          text: i18n._('A folder with channels cannot be archived.'),
          onConfirm: ({ id }: Folder) =>
            api.patch('/channel_folders/{channel_folder_id}', { channel_folder_id: id, is_archived: true }),
        },
        // Archived folders keep their order at the end.
        onOrder: (ordered: readonly Folder[]) =>
          api.patch('/channel_folders', { order: [...ordered, ...archived].map(({ id }) => id) }),
      })}
    />
  );
}
