import { performance } from 'node:perf_hooks';
import { lastOf } from '@parley/domain/kernel';
import type { OpenShopCall, OrderCosts } from '../children/orders.js';
import { ApiUser } from '../harness/api.js';
import { interleave, median, medianRatio } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import type { Lab, WorldBuilder } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { customerId, emailOf, type Shop, STAFF, type Staffing, shopWith, staffId } from '../worlds/orders.js';
import { REGISTRATION } from './register.js';

const SIZES = [1000, 10_000, 100_000] as const;
const QUICK_SIZES = [10, 20] as const;
/** Maximum number of orders for which the form of a staff member is measured. */
const MAX_ORDERS_OF_REGISTER = 10_000;
const MEGABYTE = 1024 * 1024;
/** Ratio of the CPU time to that of the smallest size, which fails the run above it. */
const MAX_GROWTH = 1.3;

/** Support chat of a product by docs/guides/support-chat.md, with more and more orders. */
export const orders: Workload = {
  name: 'orders',
  async run(lab) {
    const sizes = lab.isQuick ? QUICK_SIZES : SIZES;
    const worlds = (staffing: Staffing) => sizes.map((size) => shopWith(size, staffing));
    const subscribed = worlds('subscribed');
    return [
      ...(await newOrders(lab, subscribed, 'subscribed')),
      ...(await newOrders(lab, worlds('readers'), 'readers')),
      ...(await served(lab, subscribed)),
    ];
  },
};

/** Guard of `cpu` for the sizes that it can build in a few seconds. */
export async function growthOfOrders(lab: Lab): Promise<Figure> {
  const sizes = lab.isQuick ? QUICK_SIZES : SIZES.slice(0, 2);
  const worlds = sizes.map((size) => shopWith(size, 'subscribed'));
  return lastOf(await newOrders(lab, worlds, 'subscribed'));
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

/** Sizes of registrations and of the process, and the start. */
async function served(lab: Lab, worlds: readonly WorldBuilder<Shop>[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const world of worlds) {
    const { database, contents } = await lab.copyOf(world);
    const among = `with ${formatNumber(contents.orders)} orders`;
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
    const registering = [['a customer', customerId(1)]];
    // Beyond that, the response has hundreds of megabytes.
    if (contents.orders <= MAX_ORDERS_OF_REGISTER) registering.push(['a staff member', staffId(1)]);
    for (const [who, externalId] of registering) {
      const person = await ApiUser.signIn(server, emailOf(externalId!));
      const before = await server.usage();
      const state = await person.post('/api/v1/register', REGISTRATION);
      const after = await server.usage();
      figure(`register of ${who}`, JSON.stringify(state).length / 1000, 'KB');
      figure(`register of ${who}, CPU`, after.cpuMs - before.cpuMs, 'ms');
    }
    figure('memory after these', (await server.usage()).rss / MEGABYTE, 'MB');
    figure('database per order without events', contents.bytesPerOrder / 1000, 'KB');
    await lab.stopAll();
  }
  return figures;
}
