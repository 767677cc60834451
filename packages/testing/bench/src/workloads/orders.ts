import { performance } from 'node:perf_hooks';
import { lastOf } from '@parley/domain/kernel';
import type { OpenShopCall, OrderCosts } from '../children/orders.js';
import { ApiUser } from '../harness/api.js';
import { interleave, median, medianRatio } from '../harness/interleave.js';
import type { ParleyServer } from '../harness/parley-server.js';
import { formatNumber } from '../harness/table.js';
import type { Lab, WorldBuilder } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { customerId, emailOf, type Shop, STAFF, type Staffing, shopWith, staffId } from '../worlds/orders.js';
import { LEAN_REGISTRATION } from './register.js';

type Registration = Readonly<Record<string, string>>;

/** Registration of `parley/chat`. */
const PARTIAL_REGISTRATION = {
  ...LEAN_REGISTRATION,
  include_subscribers: 'partial',
  client_capabilities: JSON.stringify({
    ...JSON.parse(LEAN_REGISTRATION.client_capabilities),
    partial_state: true,
  }),
};

const SIZES = [1000, 10_000, 100_000] as const;
const QUICK_SIZES = [10, 20] as const;
/** Maximum number of orders for which the whole state of a staff member is measured. */
const MAX_ORDERS_OF_REGISTER = 10_000;
const REGISTRATIONS = 3;
const PAGES = 10;
/** Newest 100 messages of everything. */
const INBOX = '/api/v1/messages?anchor=newest&num_before=100&num_after=0';
const MEGABYTE = 1024 * 1024;
/** Ratio of the CPU time to that of the smallest size, which fails the run above it. */
const MAX_GROWTH = 1.3;

/** Support chat of a product by docs/guides/support-chat.md, with more and more orders. */
export const orders: Workload = {
  name: 'orders',
  async run(lab) {
    const sizes = lab.isQuick ? QUICK_SIZES : SIZES;
    const worlds = (staffing: Staffing) => sizes.map((size) => shopWith(size, staffing));
    const figures: Figure[] = [];
    for (const staffing of ['subscribed', 'readers'] as const) {
      figures.push(...(await newOrders(lab, worlds(staffing), staffing)));
      figures.push(...(await served(lab, worlds(staffing), staffing)));
    }
    return figures;
  },
};

/** Few and many orders for the guards of `cpu`, in databases that take a few seconds. */
const GUARDED = [1000, 100_000].map((size) => shopWith(size, 'readers'));
const QUICK_GUARDED = QUICK_SIZES.map((size) => shopWith(size, 'readers'));
const guarded = (lab: Lab): readonly WorldBuilder<Shop>[] => (lab.isQuick ? QUICK_GUARDED : GUARDED);

/** Guard of `cpu` for new orders. */
export const growthOfOrders = async (lab: Lab): Promise<Figure> =>
  lastOf(await newOrders(lab, guarded(lab), 'readers'));

/** Guards of `cpu` for a customer and for a staff member who open the chat. */
export const growthOfRegistrations = (lab: Lab): Promise<Figure> =>
  growthOf(lab, 'a customer', customerId(1), PARTIAL_REGISTRATION);
export const growthOfStaffRegistrations = (lab: Lab): Promise<Figure> =>
  growthOf(lab, 'a staff member', staffId(1), PARTIAL_REGISTRATION);

async function growthOf(lab: Lab, who: string, externalId: string, registration: Registration): Promise<Figure> {
  const contenders: Record<string, () => Promise<number>> = {};
  const sizes: number[] = [];
  for (const world of guarded(lab)) {
    const { database, contents } = await lab.copyOf(world);
    const server = await lab.serve(database);
    sizes.push(contents.orders);
    contenders[contents.orders] = async () => (await registrationOf(server, externalId, registration)).cpuMs;
  }
  const rounds = await interleave(lab.rounds, contenders);
  await lab.stopAll();
  const [few, many] = sizes.map((size) => rounds[size]!);
  const value = medianRatio(many!, few!);
  const [ofMany, ofFew] = sizes.map(formatNumber).reverse();
  return {
    label: `register of ${who} with ${ofMany} orders ÷ with ${ofFew}, CPU`,
    ours: `${formatNumber(median(many!))} ms`,
    limit: `${formatNumber(median(few!))} ms`,
    value,
    goal: { atMost: MAX_GROWTH },
    ...(!lab.isQuick &&
      value > MAX_GROWTH && {
        failure: `The registration of ${who} costs ${formatNumber(value)} times as much with ${ofMany} orders`,
      }),
  };
}

async function newOrders(lab: Lab, worlds: readonly WorldBuilder<Shop>[], staffing: Staffing): Promise<Figure[]> {
  const sizes: number[] = [];
  const bytes: number[] = [];
  const costs: OrderCosts[][] = [];
  const contenders: Record<string, () => Promise<number>> = {};
  for (const [index, world] of worlds.entries()) {
    const { database, contents } = await lab.copyOf(world);
    const child = lab.start('orders', { seat: 'server' });
    await child.call('open', { database, orders: contents.orders, staffing } satisfies OpenShopCall);
    sizes.push(contents.orders);
    bytes.push(contents.bytesPerOrder);
    costs.push([]);
    contenders[index] = async () => {
      const measured = await child.call<OrderCosts>('place', lab.size(20, 2));
      costs[index]!.push(measured);
      return measured.upsert + measured.ensure + measured.send;
    };
  }
  const rounds = await interleave(lab.rounds, contenders);
  await lab.stopAll();
  const least = rounds[0]!;
  return sizes.map((size, index) => {
    const [upsert, ensure, send] = (['upsert', 'ensure', 'send'] as const).map((step) =>
      formatNumber(median(costs[index]!.map((cost) => cost[step]))),
    );
    const value = medianRatio(rounds[index]!, least);
    const failure = `A new order costs ${formatNumber(value)} times as much with ${formatNumber(size)} orders`;
    return {
      label: `${STAFF} ${staffing}: users.upsert + channels.ensure + first send (${upsert} + ${ensure} + ${send} ms; ${formatNumber(bytes[index]! / 1000)} KB) with ${formatNumber(size)} orders ÷ with ${formatNumber(sizes[0]!)}, CPU`,
      ours: `${formatNumber(median(rounds[index]!))} ms`,
      limit: `${formatNumber(median(least))} ms`,
      value,
      goal: { atMost: MAX_GROWTH },
      ...(!lab.isQuick && value > MAX_GROWTH && { failure }),
    };
  });
}

/** Median of several registrations, after one that is not measured. */
async function registrationOf(
  server: ParleyServer,
  externalId: string,
  registration: Registration = LEAN_REGISTRATION,
) {
  const person = await ApiUser.signIn(server, emailOf(externalId));
  const rounds: number[] = [];
  let bytes = 0;
  for (let n = 0; n <= REGISTRATIONS; n++) {
    const before = await server.usage();
    const state = await person.post('/api/v1/register', registration);
    const after = await server.usage();
    bytes = JSON.stringify(state).length;
    if (n > 0) rounds.push(after.cpuMs - before.cpuMs);
  }
  return { bytes, cpuMs: median(rounds) };
}

/** Sizes of registrations and of the process, and the start. */
async function served(lab: Lab, worlds: readonly WorldBuilder<Shop>[], staffing: Staffing): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const world of worlds) {
    const { database, contents } = await lab.copyOf(world);
    const among = `with ${formatNumber(contents.orders)} orders, staff: ${staffing}`;
    const figure = (label: string, value: number, unit: string): void => {
      figures.push({
        label: `${label} ${among}`,
        ours: `${formatNumber(value)} ${unit}`,
        limit: '',
        value,
        goal: null,
      });
    };
    const startedAt = performance.now();
    const server = await lab.serve(database);
    figure('start', performance.now() - startedAt, 'ms');
    figure('memory after the start', (await server.usage()).rss / MEGABYTE, 'MB');
    const registering: [who: string, externalId: string, registration: Registration][] = [
      ['a customer', customerId(1), PARTIAL_REGISTRATION],
      ['a staff member with a partial state', staffId(1), PARTIAL_REGISTRATION],
    ];
    // Beyond that, the response has hundreds of megabytes.
    if (contents.orders <= MAX_ORDERS_OF_REGISTER) registering.push(['a staff member', staffId(1), LEAN_REGISTRATION]);
    for (const [who, externalId, registration] of registering) {
      const { bytes, cpuMs } = await registrationOf(server, externalId, registration);
      figure(`register of ${who}`, bytes / 1000, 'KB');
      figure(`register of ${who}, CPU`, cpuMs, 'ms');
      const person = await ApiUser.signIn(server, emailOf(externalId));
      const before = await server.usage();
      for (let n = 0; n < PAGES; n++) await person.get(INBOX);
      figure(`page of the inbox of ${who}, CPU`, ((await server.usage()).cpuMs - before.cpuMs) / PAGES, 'ms');
    }
    figure('memory after these', (await server.usage()).rss / MEGABYTE, 'MB');
    figure('database per order without events', contents.bytesPerOrder / 1000, 'KB');
    await lab.stopAll();
  }
  return figures;
}
