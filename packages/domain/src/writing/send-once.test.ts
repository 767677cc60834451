import { aChannel, aMessage, aUser, createFixture, sending } from '@parley/testkit';

describe('SendMessage with an external id', () => {
  it('accepts any repetition of a message that an earlier version sent, without a digest', async () => {
    const fixture = await createFixture(
      aUser({ name: 'hamlet' }),
      aChannel({ name: 'Denmark', subscribers: ['hamlet'] }),
      aMessage({ from: 'hamlet', to: 'Denmark' }),
    );
    const { id: realmId } = fixture.realm;
    const [{ id: messageId }] = fixture.messages as [(typeof fixture.messages)[0]];
    await fixture.uow.write(realmId, (tx) =>
      tx.sentOnce.putExternal({ realmId, externalId: 'o7', messageId, digest: null }),
    );
    const to = { kind: 'channelName', name: 'Denmark' } as const;
    const repetition = sending(fixture)('hamlet', to, { content: 'Another text', externalId: 'o7' });
    expect(await repetition).toEqual({ id: messageId, newVisibility: null, isRepeated: true });
  });
});
