import type { MessageId, RecipientId, UserId } from '@parley/domain/kernel';
import type { MessageCopy } from '@parley/transfer/exports';
import { ClientNumbers, MessageFile } from './message-rows.js';

const REALM = 1;
const FLAGS = { read: true } as MessageCopy['holders'][number]['flags'];

/** Copies only data that rows contain. */
function copyOf(id: number, content: string, holders: number): MessageCopy {
  return {
    message: {
      id: id as MessageId,
      senderId: 5 as UserId,
      recipientId: 7 as RecipientId,
      channelId: null,
      content,
      clientName: 'test',
      topicLinks: [],
      lastMovedAt: null,
    } as unknown as MessageCopy['message'],
    edits: [],
    reactions: [],
    submessages: [],
    holders: Array.from({ length: holders }, (_, n) => ({ userId: (n + 1) as UserId, flags: FLAGS })),
  };
}

async function bytesOf(file: MessageFile): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.chunks()) chunks.push(chunk);
  return chunks;
}

const parse = (chunks: readonly Uint8Array[]) => JSON.parse(Buffer.concat(chunks).toString());

describe('message file', () => {
  it('produces JSON of the announced size for any content', async () => {
    const file = new MessageFile(REALM, new ClientNumbers());
    const texts = ['plain', 'żółć 🎉', '\u0000"\\', 'x'.repeat(100_000), '漢'.repeat(50_000)];
    texts.forEach((text, n) => {
      file.add(copyOf(n + 1, text, 2));
    });

    const chunks = await bytesOf(file);

    expect(chunks.reduce((sum, { length }) => sum + length, 0)).toBe(file.length);
    const { zerver_message, zerver_usermessage, parley_client } = parse(chunks);
    expect(zerver_message.map(({ content }: { content: string }) => content)).toEqual(texts);
    expect(zerver_usermessage).toHaveLength(2 * texts.length);
    expect(parley_client).toEqual([{ id: 1, name: 'test' }]);
  });

  it('is full after a thousand messages', () => {
    const file = new MessageFile(REALM, new ClientNumbers());
    for (let n = 1; n < 1000; n++) file.add(copyOf(n, 'x', 0));
    expect(file.isFull).toBe(false);

    file.add(copyOf(1000, 'x', 0));

    expect(file.isFull).toBe(true);
  });

  it('is full after fewer messages if they have many holders', () => {
    const file = new MessageFile(REALM, new ClientNumbers());
    file.add(copyOf(1, 'x', 199_999));
    expect(file.isFull).toBe(false);

    file.add(copyOf(2, 'x', 1));

    expect(file).toMatchObject({ isFull: true, messageCount: 2 });
  });

  it('keeps returned chunks unchanged when the next file is written', async () => {
    const file = new MessageFile(REALM, new ClientNumbers());
    file.add(copyOf(1, 'first', 1));
    const chunks = await bytesOf(file);

    file.clear();
    file.add(copyOf(2, 'second', 1));

    expect(parse(chunks).zerver_message).toMatchObject([{ id: 1, content: 'first' }]);
    const next = parse(await bytesOf(file));
    expect(next.zerver_message).toMatchObject([{ id: 2, content: 'second' }]);
    expect(next.zerver_usermessage).toMatchObject([{ id: 2, message: 2 }]);
  });
});
