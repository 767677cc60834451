import { keepDraft, type Scenarios, systemGroups } from './scenario.js';

export const SETTINGS_SCENARIOS: Scenarios = {
  'PATCH /settings': [
    {
      title: 'their own',
      as: 'hamlet',
      params: { twenty_four_hour_time: true, color_scheme: 2, enable_drafts_synchronization: false },
      heard: ['user_settings/update'],
    },
    {
      title: 'no draft synchronization',
      as: 'hamlet',
      prepare: keepDraft,
      params: { enable_drafts_synchronization: false },
      heard: ['user_settings/update'],
    },
    { title: 'a language', as: 'hamlet', params: { default_language: 'de' }, heard: ['user_settings/update'] },
    {
      title: 'hidden presence',
      as: 'hamlet',
      params: { presence_enabled: false },
      heard: ['presence', 'user_settings/update'],
    },
    { title: 'a name', as: 'hamlet', params: { full_name: 'Prince Hamlet' }, heard: ['realm_user/update'] },
    {
      title: 'a time zone',
      as: 'hamlet',
      params: { timezone: 'Europe/Copenhagen' },
      heard: ['realm_user/update', 'user_settings/update'],
    },
    {
      title: 'email visibility of a user whom few guests can access',
      as: 'hamlet',
      prepare: ({ server, people }) => server.patch('/settings', people.hamlet, { email_address_visibility: 4 }),
      params: { email_address_visibility: 2 },
      heard: ['realm_user/update', 'user_settings/update'],
    },
    {
      title: 'settings of other users and a group',
      as: 'iago',
      params: async ({ server, people }) => ({
        target_users: {
          user_ids: [people.polonius.id],
          group_ids: [(await systemGroups({ server })).owners],
          skip_if_already_edited: true,
        },
        starred_message_counts: false,
        enable_drafts_synchronization: false,
      }),
      heard: ['user_settings/update'],
    },
    {
      title: 'a password, and another address that waits to be confirmed',
      as: 'hamlet',
      params: ({ people }) => ({
        old_password: people.hamlet.password,
        new_password: 'alas, poor yorick 1601',
        email: 'prince@zulip.com',
      }),
      heard: [],
    },
    {
      title: 'consent to exports',
      as: 'hamlet',
      params: { allow_private_data_export: true },
      heard: ['realm_export_consent', 'user_settings/update'],
    },
    {
      title: 'email visibility',
      as: 'hamlet',
      params: { email_address_visibility: 4 },
      heard: ['realm_user/update', 'user_settings/update'],
    },
  ],
  'PATCH /settings/display': [
    { title: 'their own', as: 'hamlet', params: { color_scheme: 2 }, heard: ['user_settings/update'] },
  ],
  'PATCH /settings/notifications': [
    { title: 'their own', as: 'hamlet', params: { enable_sounds: false }, heard: ['user_settings/update'] },
  ],
  'PATCH /realm/user_settings_defaults': [
    {
      title: 'defaults of new users',
      as: 'desdemona',
      params: { color_scheme: 2, enable_sounds: false },
      heard: ['realm_user_settings_defaults/update'],
    },
  ],
};
