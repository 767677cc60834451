import { setTimeout as sleep } from 'node:timers/promises';
import type { Parley } from '@parley/server';
import { openParley, orderSteps, type Staffing } from '../worlds/orders.js';
import { answerCalls } from './answer-calls.js';

export interface OpenShopCall {
  readonly database: string;
  /** Number of existing orders. */
  readonly orders: number;
  readonly staffing: Staffing;
}

type Steps = ReturnType<typeof orderSteps>;

/** CPU time per step, in milliseconds. */
export type OrderCosts = Readonly<Record<keyof Steps, number>>;

/** CPU milliseconds per 500 ms below which background work has ended. */
const IDLE_MS = 10;

let parley: Parley;
let orders: number;
let steps: Steps;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

answerCalls({
  async open(call: OpenShopCall): Promise<void> {
    ({ orders } = call);
    steps = orderSteps(call.staffing);
    parley = await openParley(call.database);
    await steps.send(parley, 1);
    // Work that begins with the start does not count for the calls.
    for (let before = cpuMs(); ; ) {
      await sleep(500);
      const now = cpuMs();
      if (now - before < IDLE_MS) return;
      before = now;
    }
  },

  /** Performs each step for new orders, one after the other. Reads the CPU time rarely, because reading it takes some. */
  async place(count: number): Promise<OrderCosts> {
    const costs = { upsert: 0, ensure: 0, send: 0 };
    const placed = Array.from({ length: count }, (_, n) => orders + 1 + n);
    orders += count;
    for (const [step, perform] of Object.entries(steps) as [keyof Steps, Steps[keyof Steps]][]) {
      const before = cpuMs();
      for (const order of placed) await perform(parley, order);
      costs[step] = (cpuMs() - before) / count;
    }
    return costs;
  },
});
