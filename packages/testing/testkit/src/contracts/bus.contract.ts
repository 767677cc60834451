import type { Bus, BusHint, EventSeq, RealmId } from '@parley/domain/kernel';

const REALM = 7 as RealmId;
const committed = (seq: number): BusHint => ({ kind: 'committed', seq: seq as EventSeq });

/** `connect` opens another connection to a bus without other traffic; `settle` waits until messages have arrived. */
export function busContract(connect: () => Promise<Bus>, settle: () => Promise<void>): void {
  describe('bus', () => {
    const listening = async (bus: Bus, realmId = REALM) => {
      const heard: BusHint[] = [];
      const unsubscribe = await bus.subscribe(realmId, (hint) => heard.push(hint));
      return { heard, unsubscribe };
    };

    it("delivers messages to every connection except the sender's", async () => {
      const [own, second, third] = [await connect(), await connect(), await connect()];
      const others = [await listening(second), await listening(third), await listening(third)];
      const mine = await listening(own);
      own.publish(REALM, committed(1));
      own.publish(REALM, { kind: 'queuesRemoved', ids: ['a'] });
      await settle();
      for (const { heard } of others) expect(heard).toEqual([committed(1), { kind: 'queuesRemoved', ids: ['a'] }]);
      expect(mine.heard).toEqual([]);
      expect(own.state).toBe('connected');
    });

    it('delivers only messages of the subscribed organization, and none after unsubscribing', async () => {
      const [own, other] = [await connect(), await connect()];
      const [here, elsewhere] = [await listening(other), await listening(other, 8 as RealmId)];
      own.publish(REALM, committed(1));
      await settle();
      here.unsubscribe();
      own.publish(REALM, committed(2));
      await settle();
      expect([here.heard, elsewhere.heard]).toEqual([[committed(1)], []]);
    });
  });
}
