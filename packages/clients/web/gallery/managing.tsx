import { useState } from 'react';
import type { Setting } from '../src/managing/fields.js';
import { Fields } from '../src/managing/form.js';
import { Preferences } from '../src/managing/preferences.js';
import { FoundSettings } from '../src/managing/settings-search.js';
import { useManagement } from '../src/services/use-management.js';
import { type Exhibit, page, VERONA } from './exhibit.js';
import { personId } from './world.js';

const settings = (area: string, sections: readonly string[]): readonly Exhibit[] =>
  sections.map((section) => page(`${area} ${section}`, `${area}/${section}`));

const OPTIONS = [
  { value: 1, label: 'The first choice' },
  { value: 2, label: 'A second choice with a longer description' },
];

const CONTROLS: readonly Setting[] = [
  { name: 'switch', label: 'Switch', hint: 'What this switch does.', kind: 'switch' },
  { name: 'text', label: 'Text', hint: 'What to write here.', kind: 'text', maxLength: 60 },
  { name: 'lines', label: 'Lines', kind: 'lines' },
  { name: 'number', label: 'Number', kind: 'number', unit: 'minutes' },
  { name: 'choice', label: 'Choice', kind: 'choice', options: OPTIONS },
  {
    name: 'limit',
    label: 'Limit',
    kind: 'limit',
    presets: OPTIONS,
    unit: 'days',
    unitSize: 1,
    none: { value: null, wire: 'unlimited', label: 'Without limit' },
  },
  { name: 'file', label: 'File', kind: 'file', accept: 'image/*' },
  { name: 'color', label: 'Colour', kind: 'color' },
  { name: 'people', label: 'People', kind: 'people' },
  { name: 'channels', label: 'Channels', kind: 'channels' },
  { name: 'groups', label: 'Groups', kind: 'groups' },
];

function Controls({ isFull }: { readonly isFull: boolean }) {
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>(
    isFull
      ? {
          switch: true,
          text: 'A text',
          lines: 'Two\nlines',
          number: 12,
          choice: 2,
          limit: 7,
          color: '#2459c9',
          people: [personId('Max'), personId('אבנר')],
          channels: [VERONA],
          groups: [1, 2],
        }
      : { color: '#2459c9', people: [], channels: [], groups: [] },
  );
  return <Fields settings={CONTROLS} values={values} onChange={setValues} />;
}

const FoundPage = () => <Preferences source={useManagement().personal} isOwn />;

/** Settings pages for owners, and for members, who may change less. */
export const MANAGING: readonly Exhibit[] = [
  { name: 'controls with values', draw: () => <Controls isFull /> },
  { name: 'controls without values', draw: () => <Controls isFull={false} /> },
  {
    name: 'settings found',
    height: 400,
    draw: () => (
      <FoundSettings query="sidebar" sections={[{ key: 'preferences', title: 'Preferences', Page: FoundPage }]} />
    ),
  },
  page('channels', 'channels/all'),
  page('channels', 'channels/all', 'empty', 300),
  page('new channel', 'channels/new'),
  page('channel general', `channels/${VERONA}/Verona/general`),
  page('channel permissions', `channels/${VERONA}/Verona/permissions`, 'member'),
  page('channel subscribers', `channels/${VERONA}/Verona/subscribers`),
  page('channel personal', `channels/${VERONA}/Verona/personal`),
  page('unknown channel', 'channels/99999/gone/general', 'full', 240),
  page('groups', 'groups/all'),
  page('group general', 'groups/3/x/general'),
  page('group members', 'groups/3/x/members'),
  page('group permissions', 'groups/3/x/permissions', 'member'),
  ...settings('settings', [
    ...['profile', 'account-and-privacy', 'preferences', 'notifications', 'alert-words', 'topics', 'muted-users'],
    ...['your-bots', 'uploaded-files', 'sessions'],
  ]),
  page('settings alert words', 'settings/alert-words', 'empty', 300),
  page('settings topics', 'settings/topics', 'empty', 300),
  page('settings muted people', 'settings/muted-users', 'empty', 300),
  page('settings bots', 'settings/your-bots', 'empty', 300),
  page('settings files', 'settings/uploaded-files', 'empty', 300),
  page('settings files', 'settings/uploaded-files', 'failing', 300),
  page('settings files', 'settings/uploaded-files', 'loading', 300),
  ...settings('organization', [
    ...['organization-profile', 'organization-settings', 'organization-permissions', 'auth-methods', 'users'],
    ...['invitations', 'bots', 'integrations', 'emoji-settings', 'linkifier-settings', 'playground-settings'],
    ...['profile-field-settings', 'default-channels-list', 'default-channel-groups', 'channel-folders'],
    ...['organization-level-user-defaults', 'data-exports-admin', 'imports', 'audit-log'],
  ]),
  page('organization invitations', 'organization/invitations', 'empty', 400),
  page('organization profile', 'organization/organization-profile', 'member'),
  page('organization permissions', 'organization/organization-permissions', 'member'),
  page('unknown page', 'organization/nothing', 'full', 240),
];
