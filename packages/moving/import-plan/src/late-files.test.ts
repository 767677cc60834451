import { linkTo, literal } from '@parley/transfer/records';
import { keepFileLinks, linkInstead } from './late-files.js';

const note = (label: string, reason: string): string => literal(`${label} (${reason})`);

describe('linkInstead', () => {
  it.each([
    ['plan.pdf', 'not downloaded'],
    ['a*b_[c](d).$& pdf', 'the server returned 403'],
    ['image.png', 'not in the export'],
  ])('replaces the note about %j by a link', (label, reason) => {
    const content = `see ${label}\n\n${note(label, reason)}\n\nend`;
    const linked = linkInstead(content, label, '/user_uploads/1/x')!;
    expect(linked).toMatch(/\n\n\[[^\n]+\]\(\/user_uploads\/1\/x\)\n\nend$/);
    expect(linked).not.toContain(reason);
    expect(linkInstead(linked, label, '')).toBeNull();
  });

  it('replaces the last of equal notes first', () => {
    const content = `${note('a.png', 'not downloaded')}\n\n${note('a.png', 'not downloaded')}`;
    expect(linkInstead(content, 'a.png', '/1')).toBe('a.png (not downloaded)\n\n[a.png](/1)');
  });

  it('ignores texts about other files', () => {
    expect(linkInstead('aXpdf (not downloaded), a.pdf', 'a.pdf', '')).toBeNull();
  });
});

describe('keepFileLinks', () => {
  it.each(['plan.pdf', 'a*b_[c](d).$& pdf'])('keeps the link to %j in place of a note', (label) => {
    const former = `see\n\n${linkTo(label, '/user_uploads/2/x')}`;
    expect(keepFileLinks(`look\n\n${note(label, 'not downloaded')}`, former, [label])).toBe(
      former.replace('see', 'look'),
    );
  });

  it('distinguishes files with the same name by their order', () => {
    const former = '[a](/user_uploads/2/1) a (not downloaded) [a](/user_uploads/2/3)';
    const newer = 'a (not downloaded) a (not downloaded) [a](/user_uploads/1/new) a (not downloaded)';
    expect(keepFileLinks(newer, former, ['a', 'a', 'a'])).toBe(
      '[a](/user_uploads/2/1) a (not downloaded) [a](/user_uploads/1/new) a (not downloaded)',
    );
  });
});
