import { ByteBudget, Charge } from './budgets.js';

describe('ByteBudget of 10 with a client share of 4', () => {
  let budget: ByteBudget;
  beforeEach(() => {
    budget = new ByteBudget(10, 4);
  });
  const statusOf = (client: string | null, bytes: number) => budget.tryTake(client, bytes)?.status ?? null;

  it('limits each client to its share and all clients to the total', () => {
    expect([
      statusOf('ann', 4),
      statusOf('ann', 1),
      statusOf('bob', 4),
      statusOf('carl', 3),
      statusOf('carl', 2),
    ]).toEqual([null, 429, null, 503, null]);
    expect(budget.used).toBe(10);
  });

  it('charges bytes shared by several clients to no client', () => {
    expect([statusOf(null, 9), statusOf(null, 2), statusOf('ann', 2), statusOf('ann', 1)]).toEqual([
      null,
      503,
      503,
      null,
    ]);
    budget.release(null, 9);
    expect([statusOf('ann', 3), statusOf('ann', 1)]).toEqual([null, 429]);
  });

  it('accepts a mandatory charge above the limit and releases it', () => {
    budget.take('ann', 20);
    expect([statusOf('ann', 1), statusOf('bob', 1)]).toEqual([429, 503]);
    budget.release('ann', 18);
    expect([statusOf('ann', 2), statusOf('ann', 1)]).toEqual([null, 429]);
  });

  it('drops clients without charges', () => {
    for (let n = 0; n < 100; n++) {
      budget.take(`client ${n}`, 1);
      budget.release(`client ${n}`, 1);
    }
    expect((Reflect.get(budget, 'ofClient') as ReadonlyMap<string, number>).size).toBe(0);
  });

  it('charges each request once, until it ends', () => {
    const charge = new Charge(budget, 'ann');
    charge.add(3);
    expect(() => charge.add(2)).toThrow(expect.objectContaining({ status: 429 }));
    charge.release();
    charge.release();
    expect(budget.used).toBe(0);
  });
});
