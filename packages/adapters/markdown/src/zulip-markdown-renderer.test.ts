import type { UserId } from '@parley/domain/kernel';
import type { MarkdownOptions, StoredImage, StoredUpload } from '@parley/domain/markdown';
import { linkifiers, OPTIONS, resolve } from './fixtures/world.js';
import { ZulipMarkdownRenderer } from './zulip-markdown-renderer.js';

const renderer = new ZulipMarkdownRenderer();

function render(content: string, options: Partial<MarkdownOptions> = {}, uploads: Record<string, StoredUpload> = {}) {
  const parsed = renderer.parseNow(content, { ...OPTIONS, ...options });
  return renderer.render(parsed, resolve(parsed, new Map(Object.entries(uploads))));
}

describe('mention', () => {
  it.each`
    content                                | users       | groups  | channel  | topic
    ${'@**Ann Example**'}                  | ${[31]}     | ${[]}   | ${false} | ${false}
    ${'@**|41** and @**Sam Doe|42**'}      | ${[41, 42]} | ${[]}   | ${false} | ${false}
    ${'@_**Ann Example**'}                 | ${[]}       | ${[]}   | ${false} | ${false}
    ${'@**Old Member**'}                   | ${[]}       | ${[]}   | ${false} | ${false}
    ${'@**Ann Example|41**'}               | ${[]}       | ${[]}   | ${false} | ${false}
    ${'> @**Ann Example** @**all**'}       | ${[]}       | ${[]}   | ${false} | ${false}
    ${'```quote\n@**Ann Example**\n```'}   | ${[]}       | ${[]}   | ${false} | ${false}
    ${'```spoiler\n@**Ann Example**\n```'} | ${[31]}     | ${[]}   | ${false} | ${false}
    ${'`@**all**`'}                        | ${[]}       | ${[]}   | ${false} | ${false}
    ${'@**all**'}                          | ${[]}       | ${[]}   | ${true}  | ${false}
    ${'@**topic**'}                        | ${[]}       | ${[]}   | ${false} | ${true}
    ${'@*support* @*disbanded*'}           | ${[]}       | ${[17]} | ${false} | ${false}
  `('resolves the mentions in $content', ({ content, users, groups, channel, topic }) => {
    const result = render(content);
    expect([...result.mentionedUserIds]).toEqual(users);
    expect([...result.mentionedGroupIds]).toEqual(groups);
    expect(result.mentionsChannelWildcard).toBe(channel);
    expect(result.mentionsTopicWildcard).toBe(topic);
  });

  it('shows the display name of a system group in a silent mention', () => {
    expect(render('@_*role:administrators*').html).toBe(
      '<p><span class="user-group-mention silent" data-user-group-id="5">Administrators</span></p>',
    );
  });
});

/** Printable characters, spaces, line ends and samples of other scripts. */
const CHARACTERS = [
  ...Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)),
  ...'\t\n\r\u0001\u0002\u0003\x1c\x7f\x85\xa0\u2028\ufeff\u200bé\u00ad©®ßж٣中。\u20e3☃😀',
];

describe('fast path for plain texts', () => {
  it.each(['https:', 'see a.example'])('renders %s with any two characters like other texts', (start) => {
    const different: string[] = [];
    for (const first of CHARACTERS) {
      for (const second of CHARACTERS) {
        for (const text of [`${start}${first}${second}`, `${start} ${first}c${second}d`]) {
          // The linkifier of `OPTIONS`, which finds nothing here, prevents the fast path.
          const isEqual = render(text, { linkifiers: [] }).html === render(text).html;
          if (!isEqual) different.push(JSON.stringify(text));
        }
      }
    }
    expect(different).toEqual([]);
  });
});

describe('list of text references', () => {
  const { references } = renderer.parseNow(
    '@**Ann Example** @_**|41** @*support* #**design>Sprint plan** #**release notes** :parrot: [a](/user_uploads/2/ab/a%20b.txt)',
    OPTIONS,
  );

  it('includes all names without duplicates', () => {
    expect([...references.userNames]).toEqual(['Ann Example']);
    expect([...references.userIds]).toEqual([41]);
    expect([...references.groupNames]).toEqual(['support']);
    expect([...references.channelNames]).toEqual(['design>Sprint plan', 'design', 'release notes']);
    expect(references.topics).toEqual([{ channelName: 'design', topic: 'Sprint plan' }]);
    expect([...references.emojiNames]).toEqual(['parrot']);
    expect([...references.uploadPaths]).toEqual(['2/ab/a%20b.txt']);
  });

  it('is empty for an ordinary sentence', () => {
    const plain = renderer.parseNow('Shall we meet at noon? **Yes**: see https://a.example', OPTIONS).references;
    expect(Object.values(plain).map((names) => [...names].length)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });
});

describe('rendering of links and images', () => {
  it.each`
    content                           | hasLink  | hasImage
    ${'x'}                            | ${false} | ${false}
    ${'@**Ann Example**'}             | ${false} | ${false}
    ${'a@b.example'}                  | ${true}  | ${false}
    ${'#**design**'}                  | ${true}  | ${false}
    ${'#123'}                         | ${true}  | ${false}
    ${'> https://a.example/x.png'}    | ${true}  | ${false}
    ${'https://a.example/x.png'}      | ${true}  | ${true}
    ${'https://a.example/x.mp4'}      | ${true}  | ${false}
    ${'https://youtu.be/hx1mjT73xYE'} | ${true}  | ${true}
  `('checks $content for a link ($hasLink) and an image ($hasImage)', ({ content, hasLink, hasImage }) => {
    expect(render(content)).toMatchObject({ hasLink, hasImage });
  });

  it('shows no previews for a message with too many links', () => {
    const images = (count: number) =>
      Array.from({ length: count }, (_, i) => `https://a.example/${i}.png`).join('\n\n');
    expect(render(images(24)).html.match(/message_inline_image/g)).toHaveLength(24);
    expect(render(images(25)).html).not.toContain('message_inline_image');
  });

  it('shows no previews if the realm disables them', () => {
    expect(render('https://a.example/x.png', { mediaPreviews: false })).toMatchObject({
      html: '<p><a href="https://a.example/x.png">https://a.example/x.png</a></p>',
      hasImage: false,
    });
  });

  it('shows an image of another server through the proxy', () => {
    const proxying = new ZulipMarkdownRenderer({ proxiedImageUrl: (url) => `https://proxy.example/${url.length}` });
    const parsed = proxying.parseNow('https://a.example/x.png', OPTIONS);
    expect(proxying.render(parsed, resolve(parsed)).html).toBe(
      '<div class="message_inline_image"><a href="https://a.example/x.png"><img src="https://proxy.example/23"></a></div>',
    );
  });
});

it('keeps all characters of an address with an apostrophe and parentheses', () => {
  expect(render("[a](https://x.example/as'd/(b)) and more").html).toBe(
    '<p><a href="https://x.example/as\'d/(b)">a</a> and more</p>',
  );
});

describe('HTML limit', () => {
  it('shows the source text if its HTML would be too large for the text', async () => {
    const limited = new ZulipMarkdownRenderer();
    const html = async (content: string) => {
      const parsed = await limited.parse(content, OPTIONS);
      return limited.render(parsed, resolve(parsed)).html;
    };
    expect(await html('a $$x$$ b')).toContain('katex');
    const formulas = '$$\\sqrt1$$ '.repeat(60);
    expect(await html(`a < b & c\n${formulas}`)).toBe(`<p>a &lt; b &amp; c<br>\n${formulas}</p>`);
    await limited.close();
  });
});

describe('rendering of uploads', () => {
  const image = (thumbnail: StoredImage['thumbnail'], isAnimated = false): StoredUpload => ({
    contentType: 'image/png',
    image: { width: 1920, height: 1080, isAnimated, thumbnail },
  });
  const ready = image({ format: '840x560.webp', transcodedFormat: null });
  const path = '2/ab/cat.png';

  it('detects uploads in every form of link', () => {
    const { uploadPaths } = render(
      '[a](/user_uploads/1/a.txt) https://chat.example/user_uploads/1/b.txt\n\n> [c](/user_uploads/1/c.txt)',
    );
    expect([...uploadPaths].sort()).toEqual(['1/a.txt', '1/b.txt', '1/c.txt']);
  });

  it('shows the thumbnail of an image', () => {
    expect(render(`[cat.png](/user_uploads/${path})`, {}, { [path]: ready }).html).toBe(
      '<p><a href="/user_uploads/2/ab/cat.png">cat.png</a></p>\n<div class="message_inline_image"><a href="/user_uploads/2/ab/cat.png" title="cat.png"><img data-original-content-type="image/png" data-original-dimensions="1920x1080" src="/user_uploads/thumbnail/2/ab/cat.png/840x560.webp"></a></div>',
    );
    expect(render(`see ![cat](/user_uploads/${path})`, {}, { [path]: ready })).toMatchObject({
      html: '<p>see <img alt="cat" class="inline-image" data-original-content-type="image/png" data-original-dimensions="1920x1080" data-original-src="/user_uploads/2/ab/cat.png" src="/user_uploads/thumbnail/2/ab/cat.png/840x560.webp"></p>',
      hasImage: true,
    });
  });

  it('shows a placeholder while an image is being scaled', () => {
    const result = render(
      `[cat](/user_uploads/${path}) ![cat](/user_uploads/${path})`,
      {},
      { [path]: image('pending') },
    );
    expect(result.html).toContain('class="image-loading-placeholder"');
    expect(result.html).toContain('class="inline-image image-loading-placeholder"');
    expect([...result.pendingThumbnails]).toEqual([path]);
  });

  it.each`
    upload                                                                   | shown
    ${image('failed')}                                                       | ${''}
    ${image('none')}                                                         | ${'<img src="/user_uploads/2/ab/cat.png">'}
    ${image({ format: '840x560-anim.webp', transcodedFormat: null }, true)}  | ${'<img data-animated="true" data-original-content-type="image/png" data-original-dimensions="1920x1080" src="/user_uploads/thumbnail/2/ab/cat.png/840x560-anim.webp">'}
    ${image({ format: '840x560.webp', transcodedFormat: '1920x1080.webp' })} | ${'<img data-original-content-type="image/png" data-original-dimensions="1920x1080" data-transcoded-image="1920x1080.webp" src="/user_uploads/thumbnail/2/ab/cat.png/840x560.webp">'}
  `('shows $upload.image.thumbnail as $shown', ({ upload, shown }) => {
    const { html } = render(`[cat](/user_uploads/${path})`, {}, { [path]: upload });
    expect(/<img[^>]*>/.exec(html)?.[0] ?? '').toBe(shown);
  });

  it('shows no preview for a file that is not an image despite its name', () => {
    const file: StoredUpload = { contentType: 'text/plain', image: null };
    expect(render(`[cat](/user_uploads/${path})`, {}, { [path]: file })).toMatchObject({ hasImage: false });
    expect(render(`![cat](/user_uploads/${path})`, {}, { [path]: file }).html).toBe(
      '<p>![cat](/user_uploads/2/ab/cat.png)</p>',
    );
  });

  it('shows a player for audio', () => {
    const sound: StoredUpload = { contentType: 'audio/mpeg', image: null };
    expect(render('![song](/user_uploads/2/ab/a.mp3)', {}, { '2/ab/a.mp3': sound }).html).toBe(
      '<p><audio controls preload="metadata" src="/user_uploads/2/ab/a.mp3" title="song"></audio></p>',
    );
    expect(render('![song](https://chat.example/user_uploads/2/ab/a.mp3)', {}, { '2/ab/a.mp3': sound }).html).toBe(
      '<p><audio controls data-original-url="https://chat.example/user_uploads/2/ab/a.mp3" preload="metadata" src="/user_uploads/2/ab/a.mp3" title="song"></audio></p>',
    );
  });

  it('does not show an image of another server inline', () => {
    expect(render('![x](https://a.example/x.txt)').html).toBe(
      '<p>![x](<a href="https://a.example/x.txt">https://a.example/x.txt</a>)</p>',
    );
  });
});

describe('alert word', () => {
  const words = new Map([
    ['deploy', [7 as UserId]],
    ['on fire', [8 as UserId, 9 as UserId]],
    ['上线', [10 as UserId]],
  ]);
  const alerted = (content: string) => {
    const parsed = renderer.parseNow(content, OPTIONS);
    return [...renderer.render(parsed, resolve(parsed, new Map(), words)).alertWordUserIds];
  };

  it.each([
    'Deploy now',
    'please (deploy)',
    'please deploy!',
    '**deploy**',
    '`deploy`',
    '> deploy',
    '[deploy](http://a.example)',
  ])('matches in %s', (content) => {
    expect(alerted(content)).toEqual([7]);
  });

  it.each([
    'redeploy',
    'deploys',
    'deploy-x',
    '"deploy"',
    'we _deploy_',
    'deploy/',
    'x:deploy',
    'http://deploy.example',
    'x ~~deploy~~',
    '```\ndeploy\n```',
  ])('does not match in %s', (content) => {
    expect(alerted(content)).toEqual([]);
  });

  it.each(['今天deploy完成', '（deploy）', '今天上线完成', '上线', 'v2上线'])(
    'matches beside and in scripts without spaces: %s',
    (content) => {
      expect(alerted(content)).toEqual(content.includes('deploy') ? [7] : [10]);
    },
  );

  it('may contain spaces and belong to several users', () => {
    expect(alerted('the server is on fire!')).toEqual([8, 9]);
  });
});

describe('ZulipMarkdownRenderer', () => {
  it.each`
    content        | isMe
    ${'/me waves'} | ${true}
    ${'/me'}       | ${false}
    ${'/ME waves'} | ${false}
    ${'a\n/me b'}  | ${false}
  `('treats "$content" as a message about its sender: $isMe', ({ content, isMe }) => {
    expect(render(content).isMeMessage).toBe(isMe);
  });

  it('may render to empty HTML', () => {
    expect(render('```spoiler\n```').html).toBe('');
    expect(render(' \n ').html).toBe('');
  });

  it('fails if its HTML would become too large', () => {
    expect(() => render(`${'|a'.repeat(2500)}|\n${'|-'.repeat(2500)}|\n${'x\n'.repeat(4900)}`)).toThrow(
      'Unable to render message',
    );
  });

  it('contains no indented code if it came from an email', () => {
    expect(render('    a', { indentedCode: false }).html).toBe('<p>a</p>');
  });

  it('may be rendered again once an emoji exists', () => {
    const parsed = renderer.parseNow(':smile:', OPTIONS);
    const names = resolve(parsed);
    expect(renderer.render(parsed, names).html).toContain('<span');
    expect(renderer.render(parsed, { ...names, customEmoji: new Map([['smile', '/x.gif']]) }).html).toBe(
      '<p><img alt=":smile:" class="emoji" src="/x.gif" title="smile"></p>',
    );
  });

  it('does not nest links', () => {
    expect(render('[see #**design** now](https://a.example)').html).toBe(
      '<p><a href="https://a.example">see #design now</a></p>',
    );
    expect(render('[***see http://b.com now***](http://a.com)').html).toBe(
      '<p><a href="http://a.com"><strong><em>see http://b.com now</em></strong></a></p>',
    );
    expect(render('[`a` http://b.com `c`](http://a.com)').html).toBe(
      '<p><a href="http://a.com"><code>a</code> http://b.com <code>c</code></a></p>',
    );
  });

  it.each([
    ['html+php', 'HTML+PHP'],
    ['css+php', 'CSS+PHP'],
    ['javascript+php', 'JavaScript+PHP'],
    ['xml+php', 'XML+PHP'],
  ])('names the language of a code block of %s as Pygments does', (word, name) => {
    expect(render(`\`\`\`${word}\n<?php echo 1;\n\`\`\``).html).toContain(`data-code-language="${name}"`);
  });

  it('formats a quote that ends with a code block like any other', () => {
    expect(render('```quote\n```py\nx\n```\n```').html).toMatch(
      /^<blockquote>\n<div class="codehilite" data-code-language="Python">.*<\/div>\n<\/blockquote>$/s,
    );
  });
});

describe('linkifier', () => {
  it.each`
    pattern                | template                     | content    | html
    ${'a#(?P<id>[a-z]+)'}  | ${'https://a.example/{id}'}  | ${'a#b'}   | ${'<a href="https://a.example/b">a#b</a>'}
    ${'a#(?P<id>.+)'}      | ${'https://a.example/{id}'}  | ${'a#b/c'} | ${'<a href="https://a.example/b%2Fc">a#b/c</a>'}
    ${'a#(?P<id>.+)'}      | ${'https://a.example/{+id}'} | ${'a#b/c'} | ${'<a href="https://a.example/b/c">a#b/c</a>'}
    ${'js#(?P<x>.+)'}      | ${'javascript:{x}'}          | ${'js#x'}  | ${'js#x'}
    ${'(?P<x>[a-z])(?=b)'} | ${'https://a.example/{x}'}   | ${'ab'}    | ${'ab'}
  `('turns $content into $html with $pattern', ({ pattern, template, content, html }) => {
    expect(render(content, { linkifiers: linkifiers([[pattern, template]]) }).html).toBe(`<p>${html}</p>`);
  });
});
