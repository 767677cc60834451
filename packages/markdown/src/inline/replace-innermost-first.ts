/**
 * An opening mark may find its partner only after what stands between has been replaced, so each match starts over from
 * the first mark that is left.
 */
export function replaceInnermostFirst(
  text: string,
  mark: string,
  pattern: RegExp,
  replace: (inside: string) => string,
): string {
  let result = text;
  let from = result.indexOf(mark);
  while (from !== -1) {
    pattern.lastIndex = from;
    const match = pattern.exec(result);
    if (!match) break;
    const end = match.index + match[0].length;
    result = result.slice(0, match.index) + replace(match[1]!) + result.slice(end);
    from = result.indexOf(mark, from);
  }
  return result;
}
