import type { RenderedMessages } from '../markdown/markdown.js';
import type { MessageView } from '../messages/message.js';
import { notificationText } from './notification-text.js';

const plain = { plainText: (html: string) => html } as RenderedMessages;
const contentOf = (text: string): string =>
  notificationText(plain, {
    view: {
      message: { renderedContent: text, topic: '' },
      conversation: { kind: 'direct', participants: [] },
    } as unknown as MessageView,
    ...{ reason: 'directMessage', groupName: null, senderName: 'Ann', t: String },
  } as Parameters<typeof notificationText>[1]).content;

describe('the content of a notification', () => {
  it.each([
    ...['said', 'قال', 'napsal(a)', 'schrieb', 'dijo', 'نوشت', 'a dit', 'כתב/ה', 'ha detto', 'さんの発言', 'zei'],
    ...['napisał(a)', 'disse', 'dedi ki', 'пише', '说'],
  ])('shortens a quote with its attribution (%s)', (said) => {
    expect(contentOf(`@Bob ${said}:\n> a quote\n\nan answer`)).toBe('[…]\nan answer');
  });

  it('keeps a line that names an author without a quote, and a quote without other text', () => {
    expect(contentOf('Bob said:\nan answer')).toBe('Bob said:\nan answer');
    expect(contentOf('Bob said:\n> a quote')).toBe('Bob said:\n> a quote');
  });
});
