import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, messageWith, placeOf, post, type Server, test } from './stories.js';

interface Recorded {
  readonly name: string;
  readonly html: string;
}

const FIXTURES = join(import.meta.dirname, '../../markdown/src/fixtures/markdown-recorded.json');
const recorded: readonly Recorded[] = JSON.parse(readFileSync(FIXTURES, 'utf8'));
const PER_MESSAGE = 40;

async function postMany(server: Server, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await server.call('hamlet', 'POST', '/messages', {
      type: 'channel',
      to: 'Verona',
      topic: 'renderings',
      content: `${i}`,
      read_by_sender: true,
    });
  }
}

test('draws every recorded rendering without an unknown part', async ({ server, logIn }) => {
  const groups = Array.from({ length: Math.ceil(recorded.length / PER_MESSAGE) }, (_, i) =>
    recorded.slice(i * PER_MESSAGE, (i + 1) * PER_MESSAGE),
  );
  await postMany(server, groups.length);
  const { page } = await logIn('hamlet');
  // Tall enough that every row is drawn.
  await page.setViewportSize({ width: 1280, height: 60_000 });
  await page.route('**/json/messages?*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const message of body.messages ?? []) {
      const group = groups[Number(/<p>(\d+)<\/p>/.exec(message.content)?.[1])];
      if (group) message.content = group.map(({ html }) => html).join('\n');
    }
    await route.fulfill({ response, json: body });
  });
  // Images of the recordings do not exist here.
  await page.route(/user_uploads|user_avatars|external_content|static\/generated/, (route) =>
    route.fulfill({ status: 200, contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
  );
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'Verona' });
  await page.evaluate((to) => location.assign(to), `#narrow/channel/${id}/topic/renderings`);
  await expect(page.getByRole('article')).toHaveCount(groups.length);
  const unknown = await page.locator('[data-unknown]').evaluateAll((all) => all.map(({ textContent }) => textContent));
  expect(unknown).toEqual([]);
  // Nothing a user writes becomes markup that the contract does not name.
  expect(await page.locator('article').locator('script, iframe, object, embed, form, style, link').count()).toBe(0);
});

test('marks lists by their level, and shows an image below the text of its item', async ({ server, logIn }) => {
  const picture = readFileSync(join(import.meta.dirname, '../../../docs/images/web-client.png'));
  const { url } = (await server.upload('hamlet', '/user_uploads', 'listed.png', picture)) as { url: string };
  await post(server, 'hamlet', 'lists', `* First level\n  * Second level\n* Seen [listed.png](${url})`);
  const { page } = await logIn('hamlet', await placeOf(server, 'lists'));
  const message = messageWith(page, 'First level');
  await expect(message.locator('ul').first()).toHaveCSS('list-style-type', 'disc');
  await expect(message.locator('ul ul')).toHaveCSS('list-style-type', 'circle');
  const link = (await message.getByRole('link', { name: 'listed.png' }).first().boundingBox())!;
  const image = (await message.getByRole('img').boundingBox())!;
  expect(image.y).toBeGreaterThan(link.y + link.height / 2);
  expect(image.x).toBeLessThan(link.x);
});
