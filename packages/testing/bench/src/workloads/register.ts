import { ApiUser } from '../harness/api.js';
import { interleave, median } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { backlog, largeOrganization } from '../worlds/worlds.js';
import { firstAnswer } from './first-answer.js';

/** Registration of a browser or phone: all data in the newest format. */
export const REGISTRATION = {
  apply_markdown: 'true',
  client_gravatar: 'true',
  client_capabilities: JSON.stringify({
    notification_settings_null: true,
    bulk_message_deletion: true,
    user_avatar_url_field_optional: true,
    stream_typing_notifications: true,
    user_settings_object: true,
    include_deactivated_groups: true,
    archived_channels: true,
    empty_topic_name: true,
  }),
};

/** Registration of `parley/client`. */
export const LEAN_REGISTRATION = {
  ...REGISTRATION,
  client_capabilities: JSON.stringify({
    ...JSON.parse(REGISTRATION.client_capabilities),
    user_list_incomplete: true,
    lean_state: true,
  }),
};

/** Registration in a large organization, and with many unread messages. */
export const register: Workload = {
  name: 'register',
  async run(lab) {
    return [...(await afterStart(lab)), await withBacklog(lab)];
  },
};

/** First registration after a start with many users. */
async function afterStart(lab: Lab): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [what, request] of [
    ['register', { method: 'POST', path: '/api/v1/register', form: REGISTRATION }],
    ['list of users', { method: 'GET', path: '/api/v1/users' }],
  ] as const) {
    const { database, contents } = await lab.copyOf(largeOrganization);
    const ms = await firstAnswer(lab, database, request, contents.people[5]!.email);
    figures.push({
      label: `the first ${what} after a start, of ${formatNumber(contents.people.length)} users, CPU`,
      ours: `${formatNumber(ms)} ms`,
      limit: '',
      value: ms,
      goal: null,
    });
  }
  return figures;
}

async function withBacklog(lab: Lab): Promise<Figure> {
  const { database, contents } = await lab.copyOf(backlog);
  const { megabytes, rounds } = await registerTimes(lab, database, contents.reader.email);
  const unread = formatNumber(contents.unread);
  return {
    label: `register with ${unread} unread messages (${megabytes} MB); for comparison JSON.stringify of the same object`,
    ours: `${formatNumber(median(rounds.parley))} ms`,
    limit: `${formatNumber(median(rounds.stringify))} ms`,
    value: median(rounds.parley),
    goal: { atMost: 30, unit: 'ms' },
  };
}

async function registerTimes(lab: Lab, database: string, email: string) {
  const parley = await lab.serve(database);
  const newcomer = await ApiUser.signIn(parley, email);
  const form = REGISTRATION;
  const json = JSON.stringify(await newcomer.post('/api/v1/register', form));
  const stringify = lab.start('stringify', { seat: 'server' });
  await stringify.call('load', json);
  const load = lab.load();
  const times = lab.size(10, 2);
  const requests = [newcomer.text({ method: 'POST', path: '/api/v1/register', form })];
  const rounds = await interleave(lab.rounds, {
    parley: async () => (await load.run({ port: parley.port, requests, inFlight: 1, until: { answers: times } })).p50Ms,
    stringify: () => stringify.call<number>('stringify', times),
  });
  await lab.stopAll();
  return { megabytes: formatNumber(json.length / 1e6), rounds };
}
