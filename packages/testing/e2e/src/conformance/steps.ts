import { setTimeout as pause } from 'node:timers/promises';
import { isList, isObject, type Json, type JsonObject } from './json.js';
import type { Variables } from './variables.js';

/** Id that does not exist. */
const UNUSED_ID = 99_999_999;

const ALL_CAPABILITIES = {
  notification_settings_null: true,
  bulk_message_deletion: true,
  user_avatar_url_field_optional: true,
  stream_typing_notifications: true,
  user_settings_object: true,
  linkifier_url_template: true,
  user_list_incomplete: true,
  include_deactivated_groups: true,
  archived_channels: true,
  empty_topic_name: true,
  simplified_presence_events: true,
};

/** Runner functions used by steps. */
export interface StepRunner {
  readonly variables: Variables;
  /** Time at which the server was ready, as of `performance.now()`. */
  readonly startedAt: number;
  ask(
    method: string,
    path: string,
    user: string,
    params?: Readonly<Record<string, string>>,
  ): Promise<{ readonly body: Json }>;
  openQueue(name: string, user: string, params: JsonObject): Promise<void>;
}

/** Coded steps between cases, by their names in cases.json. */
export const STEPS = {
  remove_seeded_lists: removeSeededLists,
  open_queues: openQueues,
  linkifier_order: saveLinkifierOrder,
  pass_first_minute: passFirstMinute,
} as const;

export type StepName = keyof typeof STEPS;

/** Waits until the server has looked for expired messages for the first time, a minute after its start. */
async function passFirstMinute({ startedAt }: StepRunner): Promise<void> {
  await pause(Math.max(0, startedAt + 62_000 - performance.now()));
}

/** Removes seeded linkifiers, profile fields and default channels, since events contain whole lists. */
async function removeSeededLists(runner: StepRunner): Promise<void> {
  for (const [listing, key, path] of [
    ['/realm/linkifiers', 'linkifiers', '/realm/filters/'],
    ['/realm/profile_fields', 'custom_fields', '/realm/profile_fields/'],
  ] as const) {
    for (const { id } of await listed(runner, 'GET', listing, key)) await runner.ask('DELETE', `${path}${id}`, 'admin');
  }
  const defaults = await listed(runner, 'POST', '/register', 'realm_default_streams', {
    fetch_event_types: '["default_streams"]',
    event_types: '["realm"]',
  });
  for (const channel of defaults as readonly Json[]) {
    const id = isObject(channel) ? channel.stream_id : channel;
    await runner.ask('DELETE', '/default_streams', 'admin', { stream_id: String(id) });
  }
}

async function openQueues(runner: StepRunner): Promise<void> {
  for (const user of ['admin', 'hamlet', 'guest']) {
    await runner.openQueue(user, user, { client_capabilities: ALL_CAPABILITIES, apply_markdown: false });
  }
  await runner.openQueue('old', 'hamlet', { apply_markdown: true });
  runner.variables.set('none', UNUSED_ID);
}

async function saveLinkifierOrder(runner: StepRunner): Promise<void> {
  const linkifiers = await listed(runner, 'GET', '/realm/linkifiers', 'linkifiers');
  runner.variables.set('linkifiers', linkifiers.map(({ id }) => id!).reverse());
}

/** Fetches a list as administrator. Empty if the response does not contain it. */
async function listed(
  runner: StepRunner,
  method: string,
  path: string,
  key: string,
  params: Readonly<Record<string, string>> = {},
): Promise<readonly JsonObject[]> {
  const { body } = await runner.ask(method, path, 'admin', params);
  const list = isObject(body) ? body[key] : undefined;
  return isList(list) ? (list as readonly JsonObject[]) : [];
}
