import { inEnglish } from '@parley/testkit';
import { composeEmail, emailWords } from './email.js';

const ENVELOPE = {
  language: 'en',
  to: 'yorick@example.com',
  senderName: 'Elsinore',
  subject: 'Alas <poor> Yorick',
} as const;

describe('composeEmail', () => {
  it('produces the same content as text and as HTML', () => {
    const link = { label: 'Join', url: 'https://chat.example.com/join/abc/?a=1&b=2' };
    const email = composeEmail({ ...ENVELOPE, paragraphs: ['One', 'Two & three'], link, footer: 'Why' });
    expect(email).toMatchObject({ to: 'yorick@example.com', senderName: 'Elsinore', subject: 'Alas <poor> Yorick' });
    expect(email.text).toBe('One\n\nTwo & three\n\nJoin:\nhttps://chat.example.com/join/abc/?a=1&b=2\n\n-- \nWhy\n');
    expect(email.html).toMatch(/<p [^>]*>One<\/p>\n<p [^>]*>Two &amp; three<\/p>/);
    expect(email.html).toMatch(/<a href="https:\/\/chat\.example\.com\/join\/abc\/\?a=1&amp;b=2"[^>]*>Join<\/a>/);
    expect(email.html).toContain('<title>Alas &lt;poor&gt; Yorick</title>');
  });

  it('strips line breaks and control characters from header values', () => {
    const email = composeEmail({
      to: 'yorick@example.com',
      senderName: 'Elsinore\r\nBcc: everybody@example.com',
      language: 'en',
      subject: 'Alas\n\u0000\u0085\u2028poor\u001b[2J Yorick',
      paragraphs: [],
    });
    expect(email).toMatchObject({
      senderName: 'Elsinore Bcc: everybody@example.com',
      subject: 'Alas poor [2J Yorick',
    });
    expect(email.html).toContain('<title>Alas poor [2J Yorick</title>');
  });

  it('begins the HTML form with the subject as heading', () => {
    const { html } = composeEmail({ ...ENVELOPE, paragraphs: ['One'] });
    expect(html).toMatch(/<h1 [^>]*>Alas &lt;poor&gt; Yorick<\/h1>\n<p [^>]*>One</);
  });

  it('escapes markup in HTML', () => {
    const { html } = composeEmail({ ...ENVELOPE, paragraphs: ['<script>alert("1")</script>'] });
    expect(html).toContain('>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;</p>');
  });

  it('states the language and the writing direction in HTML, also where only the content of the body is kept', () => {
    const { html } = composeEmail({ ...ENVELOPE, language: 'he', paragraphs: ['שלום,'], footer: 'תזכורת' });
    expect(html).toContain('<html lang="he" dir="rtl">');
    expect(html.match(/<(?:div|p) lang="he" dir="rtl"/g)).toHaveLength(2);
  });
});

describe('emailWords', () => {
  const speaking = (defaultLanguage: string) => ({ settings: { defaultLanguage } });

  it.each([
    ['de', 'fr', 'de'],
    ['en', 'fr', 'en'],
    ['sv', 'fr', 'fr'],
    ['sv', 'vi', 'en'],
    ['pt', 'en', 'pt-br'],
    [null, 'ja', 'ja'],
  ])('are in the language of the user, else of the organization: %s, %s → %s', (user, realm, language) => {
    expect(emailWords(inEnglish, user === null ? null : speaking(user), speaking(realm))).toMatchObject({ language });
  });
});
