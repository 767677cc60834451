import { literal } from '@parley/domain/imports';
import { linkInstead } from './late-files.js';

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
