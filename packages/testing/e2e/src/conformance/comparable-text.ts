/** Matches hashes, random file names and times. */
const VOLATILE =
  /\d+\/[0-9a-f]{1,2}\/[\w-]{24}(?=\/)|[0-9a-f]{32,64}|[0-9a-f]{7}(?=!DEACTIVATED)|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+\d\d:?\d\d|Z)?/g;

const HIGHLIGHTED_CODE = /<div class="codehilite".*?<\/div>/gs;

/** Normalizes a text for comparison by removing hosts, versions, random parts and older spellings. */
export function comparableText(text: string): string {
  return (
    text
      .replace(/\buser(\d+)@[\w.<>:-]+/g, 'user$1@…')
      .replace(/-bot@[\w.<>:-]+/g, '-bot@…')
      .replace(/(\?|&amp;|&)version=\d+/g, '')
      .replace(/\/(user_uploads|user_avatars)\/\d+\//g, '/$1/…/')
      .replaceAll('service_extra_emoji', 'zulip_extra_emoji')
      .replaceAll(' channel-wildcard-mention', '')
      // The tokenization of highlighted code is not compared.
      .replace(HIGHLIGHTED_CODE, (block) => block.replace(/<\/?span[^>]*>/g, ''))
      .replaceAll('#narrow/stream/', '#narrow/channel/')
      .replaceAll('#narrow/pm-with/', '#narrow/dm/')
      .replace(/(\/topic\/[^/")\s]+)\/with\/\d+/g, '$1')
      .replace(VOLATILE, '…')
  );
}
