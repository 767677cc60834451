import { cutTopic, MAX_CHANNEL_NAME_LENGTH, MAX_TOPIC_LENGTH, normalizeTopic } from '@parley/domain/channels';
import { foldCase, isLongerThan, positionOfUnprintable, takeCodePoints, trim } from '@parley/domain/kernel';

/** Replaces characters that names may not contain, and runs of white space, by one space. */
export function printable(text: string): string {
  const cleaned = positionOfUnprintable(text) === 0 ? text : [...text].map(printableCharacter).join('');
  return trim(cleaned.replace(/\s+/gu, ' '));
}

const printableCharacter = (character: string): string => (positionOfUnprintable(character) > 0 ? ' ' : character);

/** Returns at most `max` code points, the last of which is an ellipsis if the name is longer. */
export const cutName = (name: string, max: number): string =>
  isLongerThan(name, max) ? `${trim(takeCodePoints(name, max - 1))}…` : name;

/** Names that differ regardless of letter case. */
export class UniqueNames {
  private readonly taken = new Set<string>();

  constructor(
    private readonly maxLength: number,
    taken: Iterable<string> = [],
  ) {
    for (const name of taken) this.taken.add(foldCase(name));
  }

  /** Returns the name, shortened to the maximum length and with a number if it is taken. */
  take(wanted: string): string {
    for (let number = 1; ; number++) {
      const suffix = number === 1 ? '' : ` (${number})`;
      const name = cutName(wanted, this.maxLength - suffix.length) + suffix;
      if (this.taken.has(foldCase(name))) continue;
      this.taken.add(foldCase(name));
      return name;
    }
  }
}

export const uniqueChannelNames = (taken: Iterable<string> = []): UniqueNames =>
  new UniqueNames(MAX_CHANNEL_NAME_LENGTH, taken);

/** Name of a channel or group without a usable one. */
export const nameOr = (name: string, otherwise: string): string => printable(name) || otherwise;

/** Returns a valid topic name for a subject; empty if nothing of it can be shown. */
export const topicOf = (subject: string): string => cutTopic(normalizeTopic(printable(subject)));

/** Number of characters of a message that a topic name is made from. */
const MAX_READ = 1000;

/** Returns the first words of Markdown as a topic name: without formatting, addresses of links and code fences. */
export function firstWords(markdown: string): string {
  const plain = takeCodePoints(markdown, MAX_READ)
    .replace(/^\s*(?:`{3,}|~{3,}).*$/gm, ' ')
    .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, '$1')
    .replace(/&#(\d{1,7});/g, (_, code: string) => characterOf(Number(code)))
    .replace(/@_?\*\*([^*|\n]+)(?:\|\d+)?\*\*/g, '@$1')
    .replace(/[*`]+|~~|^\s*[>#]+/gm, '');
  const words = printable(plain);
  if (!isLongerThan(words, MAX_TOPIC_LENGTH)) return topicOf(words);
  const start = takeCodePoints(words, MAX_TOPIC_LENGTH - 1);
  const end = start.lastIndexOf(' ');
  return topicOf(`${trim(end > MAX_TOPIC_LENGTH / 2 ? start.slice(0, end) : start)}…`);
}

const characterOf = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ');

/** Topic of a thread: the name alone, with the date from the second thread, and with a number from the third. */
export function threadTopic(name: string, date: string, count: number): string {
  const wanted = name === '' ? `Thread ${date}` : name;
  if (count === 1) return wanted;
  const suffix = count === 2 ? ` (${date})` : ` (${date}, ${count - 1})`;
  return cutName(wanted, MAX_TOPIC_LENGTH - suffix.length) + suffix;
}
