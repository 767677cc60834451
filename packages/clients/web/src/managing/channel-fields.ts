import type { I18n } from '@lingui/core';
import type { ChatState, Fields, ManagementRights, Privacy } from '@parley/chat';
import type { Option, Setting } from './fields.js';

type Definitions = NonNullable<Fields['server_supported_permission_settings']>['stream'];

interface Choices {
  readonly limits: { readonly name: number | undefined; readonly description: number | undefined };
  readonly privacies: readonly Option[];
  readonly folders: readonly Option[];
}

/** Channel settings shared by all subscribers. */
export function channelFields(i18n: I18n, { limits, privacies, folders }: Choices) {
  const basic: readonly Setting[] = [
    { name: 'name', label: i18n._('Name'), kind: 'text', maxLength: limits.name },
    { name: 'description', label: i18n._('Description'), kind: 'lines', maxLength: limits.description },
    { name: 'privacy', label: i18n._('Who can read the channel?'), kind: 'choice', options: privacies },
    ...(folders.length === 0
      ? []
      : [
          {
            name: 'folder_id',
            label: i18n._('Folder'),
            kind: 'choice' as const,
            options: [{ value: null, label: i18n._('None') }, ...folders],
          },
        ]),
  ];
  const advanced: readonly Setting[] = [
    {
      name: 'topics_policy',
      label: i18n._('Messages without a topic'),
      kind: 'choice',
      options: [
        { value: 'inherit', label: i18n._('As in the organization') },
        { value: 'allow_empty_topic', label: i18n._('Allowed') },
        { value: 'disable_empty_topic', label: i18n._('Not allowed') },
        { value: 'empty_topic_only', label: i18n._('Only messages without a topic') },
      ],
    },
    {
      name: 'message_retention_days',
      label: i18n._('Messages are kept'),
      kind: 'choice',
      options: [
        { value: null, wire: 'realm_default', label: i18n._('As long as the organization decides') },
        { value: -1, wire: 'unlimited', label: i18n._('Forever') },
        ...[7, 30, 90, 365].map((days) => ({
          value: days,
          label: i18n._('{count, plural, one {# day} other {# days}}', { count: days }),
        })),
      ],
    },
  ];
  return { basic, advanced };
}

export function channelPermissions(i18n: I18n, definitions: Definitions | undefined): readonly Setting[] {
  const permission = (name: keyof Definitions, label: string): Setting => ({
    name,
    label,
    kind: 'permission',
    definition: definitions?.[name],
  });
  return [
    permission('can_administer_channel_group', i18n._('Who can change and archive the channel?')),
    permission('can_add_subscribers_group', i18n._('Who can subscribe, and add others?')),
    permission('can_subscribe_group', i18n._('Who can subscribe themselves?')),
    permission('can_remove_subscribers_group', i18n._('Who can remove people?')),
    permission('can_send_message_group', i18n._('Who can post?')),
    permission('can_create_topic_group', i18n._('Who can start topics?')),
    permission('can_resolve_topics_group', i18n._('Who can resolve topics?')),
    permission('can_move_messages_within_channel_group', i18n._('Who can move messages to other topics?')),
    permission('can_move_messages_out_of_channel_group', i18n._('Who can move messages to other channels?')),
    permission('can_delete_own_message_group', i18n._('Who can delete their own messages?')),
    permission('can_delete_any_message_group', i18n._('Who can delete any message?')),
  ];
}

/** Privacy options that the user may choose, including the current one. */
export function privacyOptions(i18n: I18n, rights: ManagementRights, present: Privacy | null): readonly Option[] {
  const options: readonly (readonly [Privacy, 'public' | 'private' | 'web-public', string])[] = [
    ['public', 'public', i18n._('Everyone except guests')],
    ['private', 'private', i18n._('Subscribers, with all earlier messages')],
    ['protected', 'private', i18n._('Subscribers, from when they joined')],
    ['web-public', 'web-public', i18n._('Anyone on the internet')],
  ];
  return options
    .filter(([value, kind]) => value === present || rights.mayCreate(kind))
    .map(([value, , label]) => ({ value, label }));
}

export const foldersOf = (state: ChatState): readonly Option[] =>
  (state.fields.get('channel_folders') ?? [])
    .filter((folder) => !folder.is_archived)
    .map(({ id, name }) => ({ value: id, label: name }));
