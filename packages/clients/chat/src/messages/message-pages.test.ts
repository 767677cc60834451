import type { Gateway } from '../kernel/ports.js';
import { ChatState } from '../kernel/state.js';
import { MessagePages } from './message-pages.js';

it('fetches thousands of messages by addresses that proxies accept', async () => {
  const paths: string[] = [];
  const gateway = {
    async get(path: string, params: Record<string, unknown>) {
      const fields = Object.entries(params).map(([name, value]) => [name, JSON.stringify(value)]);
      paths.push(`https://chat.example.com/chat/api/v1${path}?${new URLSearchParams(fields)}`);
      return { messages: [] };
    },
  } as unknown as Gateway;
  await new MessagePages(new ChatState(), gateway).fetchByIds(
    Array.from({ length: 2000 }, (_, at) => 9_999_990_000 + at),
  );
  expect(paths).toHaveLength(4);
  for (const path of paths) expect(path.length).toBeLessThan(8 * 1024);
});
