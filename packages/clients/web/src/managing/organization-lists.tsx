import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { DataExport, Linkifier, Playground, ProfileField } from '@parley/client';
import { useCallback } from 'react';
import { Loading } from '../kit/loading.js';
import { useChat, useComputed, useField, useServices } from '../services/context.js';
import { useManagement } from '../services/use-management.js';
import { Collection } from './collection.js';
import type { ListOption, Setting } from './fields.js';
import type { Values } from './form.js';
import { useFetched } from './personal-lists.js';

export const text = (
  name: string,
  label: string,
  more: { readonly hint?: string; readonly isOptional?: boolean } = {},
): Setting => ({
  name,
  label,
  kind: 'text',
  ...more,
});
export const str = (value: unknown): string => String(value ?? '').trim();

/** Current version of an item; another window may have changed it since the dialog opened. */
const presentOf = <T extends { readonly id: number }>(item: T, items: readonly T[] = []): T =>
  items.find(({ id }) => id === item.id) ?? item;

export function CustomEmoji() {
  const { i18n } = useLingui();
  const { api, rights } = useManagement();
  const { baseUrl, chat } = useServices();
  const emoji = Object.values(useField('realm_emoji') ?? {}).filter(({ deactivated }) => !deactivated);
  const may = useComputed(
    () => ({ add: rights.has('realm_can_add_custom_emoji_group'), administer: rights.isAdmin }),
    [rights],
  );
  return (
    <Collection
      label={i18n._('Custom emoji')}
      none={i18n._('There are no custom emoji.')}
      items={emoji.sort((a, b) => a.name.localeCompare(b.name))}
      keyOf={({ id }) => id}
      nameOf={({ name }) => `:${name}:`}
      detailOf={({ author_id: author }) =>
        author === null ? undefined : i18n._('Added by {name}', { name: chat.people.person(author).peek().name })
      }
      pictureOf={({ source_url }) => (
        <img src={new URL(source_url.replace(/^\//, ''), baseUrl).href} alt="" width={28} height={28} />
      )}
      {...(may.add && {
        add: {
          label: i18n._('Add emoji'),
          settings: [
            text('emoji_name', i18n._('Name'), { hint: i18n._('Lowercase letters, digits and underscores') }),
            { name: 'filename', label: i18n._('Picture'), kind: 'file', accept: 'image/*' },
          ],
          onSubmit: ({ emoji_name, filename }) =>
            api.post('/realm/emoji/{emoji_name}', { emoji_name: str(emoji_name), filename: filename as File }),
        },
      })}
      remove={{
        action: i18n._('Remove'),
        text: i18n._('It stays where it was used, but can no longer be chosen.'),
        mayRemove: ({ author_id }) => may.administer || author_id === chat.state.selfId,
        onConfirm: ({ name }) => api.delete('/realm/emoji/{emoji_name}', { emoji_name: name }),
      }}
    />
  );
}

export function Linkifiers() {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const items = useField('realm_linkifiers') ?? [];
  const mayEdit = useComputed(() => rights.isAdmin, [rights]);
  const settings = [
    text('pattern', i18n._('Pattern'), { hint: `${i18n._('A regular expression')}: #(?P<id>[0-9]+)` }),
    text('url_template', i18n._('Address'), {
      hint: `${i18n._('With the names from the pattern')}: https://example.com/ticket/{id}`,
    }),
    text('example_input', i18n._('Example of a text'), { isOptional: true }),
    text('reverse_template', i18n._('Text for a pasted address'), { isOptional: true }),
  ];
  const params = ({ pattern, url_template, example_input, reverse_template }: Values) => ({
    pattern: str(pattern),
    url_template: str(url_template),
    example_input: str(example_input),
    reverse_template: str(reverse_template),
  });
  return (
    <Collection<Linkifier>
      label={i18n._('Linkifiers')}
      hint={i18n._('They turn texts such as ticket numbers into links. The first matching pattern is used.')}
      none={i18n._('There are no linkifiers.')}
      items={items}
      keyOf={({ id }) => id}
      nameOf={({ pattern }) => pattern}
      detailOf={({ url_template }) => url_template}
      {...(mayEdit && {
        add: {
          label: i18n._('Add linkifier'),
          settings,
          onSubmit: (values: Values) => api.post('/realm/filters', params(values)),
        },
        edit: {
          title: i18n._('Edit linkifier'),
          settingsOf: () => settings,
          valuesOf: (item: Linkifier) => ({ ...item }),
          onSubmit: (item: Linkifier, changes: Values) => {
            const { id, pattern, url_template } = presentOf(item, state.fields.peek('realm_linkifiers'));
            return api.patch('/realm/filters/{filter_id}', { filter_id: id, pattern, url_template, ...changes });
          },
        },
        remove: {
          action: i18n._('Remove'),
          text: i18n._('Messages that were sent keep their links.'),
          onConfirm: ({ id }: Linkifier) => api.delete('/realm/filters/{filter_id}', { filter_id: id }),
        },
        onOrder: (ordered: readonly Linkifier[]) =>
          api.patch('/realm/linkifiers', { ordered_linkifier_ids: ordered.map(({ id }) => id) }),
      })}
    />
  );
}

export function Playgrounds() {
  const { i18n } = useLingui();
  const { api, rights } = useManagement();
  const items = useField('realm_playgrounds') ?? [];
  const mayEdit = useComputed(() => rights.isAdmin, [rights]);
  return (
    <Collection<Playground>
      label={i18n._('Code playgrounds')}
      hint={i18n._('Code blocks of a language can be opened there.')}
      none={i18n._('There are no playgrounds.')}
      items={items}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      detailOf={({ pygments_language, url_template }) => `${pygments_language} · ${url_template}`}
      {...(mayEdit && {
        add: {
          label: i18n._('Add playground'),
          settings: [
            text('pygments_language', i18n._('Language of the code')),
            text('name', i18n._('Name')),
            text('url_template', i18n._('Address'), {
              hint: `${i18n._('With a placeholder for the code')}: https://example.com/?code={code}`,
            }),
          ],
          onSubmit: ({ name, pygments_language, url_template }: Values) =>
            api.post('/realm/playgrounds', {
              name: str(name),
              pygments_language: str(pygments_language),
              url_template: str(url_template),
            }),
        },
        remove: {
          action: i18n._('Remove'),
          text: i18n._('Code blocks can no longer be opened there.'),
          onConfirm: ({ id }: Playground) => api.delete('/realm/playgrounds/{playground_id}', { playground_id: id }),
        },
      })}
    />
  );
}

const SELECT = 3;
const ACCOUNT = 7;

function fieldTypes(i18n: I18n) {
  return [
    { value: 1, label: i18n._('Short text') },
    { value: 2, label: i18n._('Long text') },
    { value: SELECT, label: i18n._('List of options') },
    { value: 4, label: i18n._('Date') },
    { value: 5, label: i18n._('Link') },
    { value: 6, label: i18n._('People') },
    { value: ACCOUNT, label: i18n._('Account elsewhere') },
    { value: 8, label: i18n._('Pronouns') },
  ];
}

type ListData = Readonly<Record<string, { readonly text: string; readonly order: string }>>;
const listOf = (data: string): ListData => JSON.parse(data || '{}');

/** Data of an edited list. Keeps options that another window has added. */
function listData(edited: readonly ListOption[], before = '', present = before): ListData {
  const [former, current] = [listOf(before), listOf(present)];
  let last = Math.max(-1, ...Object.keys({ ...former, ...current }).map((value) => Number(value) || 0));
  const options = [
    ...edited.filter(({ text: name }) => name.trim() !== ''),
    ...optionsOf(present).filter(({ key }) => !(key in former)),
  ];
  return Object.fromEntries(
    options.map(({ value, text: name }, index) => [
      value ?? String(++last),
      { text: name.trim(), order: String(index + 1) },
    ]),
  );
}

const optionsOf = (data: string): readonly ListOption[] =>
  Object.entries(listOf(data))
    .sort(([, a], [, b]) => Number(a.order) - Number(b.order))
    .map(([value, option]) => ({ key: value, value, text: option.text }));

/** Values of a profile field apart from its kind. */
const fieldSettings = (i18n: I18n, type: unknown): readonly Setting[] => [
  ...(type === ACCOUNT ? [] : [text('name', i18n._('Name')), text('hint', i18n._('Hint'), { isOptional: true })]),
  ...(type === SELECT ? [{ name: 'options', label: i18n._('Options'), kind: 'options' } as const] : []),
  { name: 'display_in_profile_summary', label: i18n._('Show on profile cards'), kind: 'switch' },
  { name: 'required', label: i18n._('Everyone should fill it in'), kind: 'switch' },
  { name: 'editable_by_user', label: i18n._('People change it themselves'), kind: 'switch' },
];

const displayParams = (values: Values) => ({
  display_in_profile_summary: values.display_in_profile_summary === true,
  required: values.required === true,
  editable_by_user: values.editable_by_user === true,
});

export function ProfileFieldsOfAll() {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const items = useField('custom_profile_fields') ?? [];
  const accounts = useField('realm_default_external_accounts') ?? {};
  const mayEdit = useComputed(() => rights.isAdmin, [rights]);
  const types = fieldTypes(i18n);
  return (
    <Collection<ProfileField>
      label={i18n._('Profile fields')}
      none={i18n._('There are no profile fields.')}
      items={items}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      detailOf={({ type, hint }) =>
        [types.find(({ value }) => value === type)?.label, hint].filter(Boolean).join(' · ')
      }
      {...(mayEdit && {
        add: {
          label: i18n._('Add profile field'),
          values: { field_type: 1, editable_by_user: true, subtype: Object.keys(accounts)[0] },
          settings: (values: Values): readonly Setting[] => [
            { name: 'field_type', label: i18n._('Kind'), kind: 'choice', options: types },
            ...(values.field_type === ACCOUNT
              ? [
                  {
                    name: 'subtype',
                    label: i18n._('Account'),
                    kind: 'choice',
                    options: Object.entries(accounts).map(([value, { text: label }]) => ({ value, label })),
                  } as const,
                ]
              : []),
            ...fieldSettings(i18n, values.field_type),
          ],
          onSubmit: (values: Values) =>
            api.post('/realm/profile_fields', {
              field_type: values.field_type as number,
              ...displayParams(values),
              ...(values.field_type === ACCOUNT
                ? { field_data: { subtype: str(values.subtype) } }
                : { name: str(values.name), hint: str(values.hint) }),
              ...(values.field_type === SELECT && { field_data: listData((values.options ?? []) as ListOption[]) }),
            }),
        },
        edit: {
          title: i18n._('Edit profile field'),
          settingsOf: ({ type }: ProfileField) => fieldSettings(i18n, type),
          valuesOf: (field: ProfileField) => ({
            ...field,
            ...(field.type === SELECT && { options: optionsOf(field.field_data) }),
          }),
          onSubmit: (field: ProfileField, { options, ...changes }: Values) => {
            const { id, field_data } = presentOf(field, state.fields.peek('custom_profile_fields'));
            return api.patch('/realm/profile_fields/{field_id}', {
              field_id: id,
              ...changes,
              ...(options !== undefined && {
                field_data: listData(options as ListOption[], field.field_data, field_data),
              }),
            });
          },
        },
        remove: {
          action: i18n._('Remove'),
          text: i18n._('The values that people entered are deleted.'),
          onConfirm: ({ id }: ProfileField) => api.delete('/realm/profile_fields/{field_id}', { field_id: id }),
        },
        onOrder: (ordered: readonly ProfileField[]) =>
          api.patch('/realm/profile_fields', { order: ordered.map(({ id }) => id) }),
      })}
    />
  );
}

/** Email domains with which people may join. */
export function Domains() {
  const { i18n } = useLingui();
  const { api, rights } = useManagement();
  const items = useField('realm_domains') ?? [];
  const mayEdit = useComputed(() => rights.isOwner, [rights]);
  type Domain = (typeof items)[number];
  return (
    <Collection<Domain>
      label={i18n._('Allowed domains')}
      none={i18n._('There are no domains.')}
      items={items}
      keyOf={({ domain }) => domain}
      nameOf={({ domain }) => domain}
      detailOf={({ allow_subdomains }) => (allow_subdomains ? i18n._('with subdomains') : undefined)}
      {...(mayEdit && {
        add: {
          label: i18n._('Add domain'),
          settings: [
            text('domain', i18n._('Domain')),
            { name: 'allow_subdomains', label: i18n._('With subdomains'), kind: 'switch' },
          ],
          onSubmit: ({ domain, allow_subdomains }: Values) =>
            api.post('/realm/domains', { domain: str(domain), allow_subdomains: allow_subdomains === true }),
        },
        remove: {
          action: i18n._('Remove'),
          text: i18n._('People with such addresses can no longer join.'),
          onConfirm: ({ domain }: Domain) => api.delete('/realm/domains/{domain}', { domain }),
        },
      })}
    />
  );
}

export function Exports() {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const { chat, baseUrl } = useServices();
  const fetch = useCallback(async () => (await api.get('/export/realm', {})).exports, [api]);
  const [exports] = useFetched(fetch, 'exports');
  const count = useCallback(async () => {
    const { export_consents: people } = await api.get('/export/realm/consents', {});
    return people.filter(({ consented }) => consented).length;
  }, [api]);
  const [consents] = useFetched(count);
  if (!exports) return <Loading />;
  const stateOf = ({ pending, failed_timestamp, export_url, deleted_timestamp }: DataExport) => {
    if (pending) return i18n._('in progress');
    if (failed_timestamp !== null) return i18n._('failed');
    if (deleted_timestamp !== null || export_url === null) return i18n._('deleted');
    return (
      <a href={new URL(export_url, baseUrl).href} download>
        {i18n._('Download')}
      </a>
    );
  };
  return (
    <Collection<DataExport>
      label={i18n._('Data exports')}
      hint={i18n._('A file with the data of the organization, which another server can import.')}
      none={i18n._('There are no exports.')}
      items={exports}
      keyOf={({ id }) => id}
      nameOf={({ export_time }) => i18n.date(new Date(export_time * 1000), { dateStyle: 'medium', timeStyle: 'short' })}
      detailOf={(each) => (
        <>
          {chat.people.person(each.acting_user_id).peek().name} · {stateOf(each)}
        </>
      )}
      add={{
        label: i18n._('Start export'),
        action: i18n._('Start export'),
        values: { export_type: 'public' },
        settings: [
          {
            name: 'export_type',
            label: i18n._('Data'),
            kind: 'choice',
            ...(consents !== null && {
              hint: i18n._(
                '{count, plural, one {# person agrees} other {# people agree}} to the export of private data.',
                { count: consents },
              ),
            }),
            options: [
              { value: 'public', label: i18n._('Public data only') },
              { value: 'full_with_consent', label: i18n._('Also private data of people who agree') },
            ],
          },
        ],
        onSubmit: ({ export_type }) => api.post('/export/realm', { export_type: export_type as 'public' }),
      }}
      remove={{
        action: i18n._('Delete'),
        text: i18n._('The file can no longer be downloaded.'),
        mayRemove: ({ pending, deleted_timestamp, failed_timestamp }) =>
          !pending && deleted_timestamp === null && failed_timestamp === null,
        onConfirm: ({ id }) => api.delete('/export/realm/{export_id}', { export_id: id }),
      }}
    />
  );
}
