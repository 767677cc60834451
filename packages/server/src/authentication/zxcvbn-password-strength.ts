import { createRequire } from 'node:module';
import { PASSWORD_MIN_GUESSES, type PasswordStrength } from '@parley/domain/access';

/** What is used of zxcvbn, which brings no types. */
type Zxcvbn = (password: string, knownWords: readonly string[]) => { readonly guesses: number };

const require = createRequire(import.meta.url);

/**
 * The estimator tries each way in which symbols may stand for letters, so that a hundred characters of the right kind take it ten
 * seconds. It gets short pieces, in which few punctuation marks stand for letters.
 */
const PIECE_LENGTH = 24;
const MAX_STAND_INS = 3;
/** Those that it takes for letters, digits apart. */
const STAND_IN = /[@({[<!|$+%]/g;

/** By the estimator that clients use as well. Its dictionaries take 10 MB, so it is loaded when first asked. */
export class ZxcvbnPasswordStrength implements PasswordStrength {
  private estimate: Zxcvbn | undefined;

  /** Whoever guesses a password guesses each piece of it: once one takes enough, the others are not looked at. */
  leastGuesses(password: string, known: readonly string[]): number {
    this.estimate ??= require('zxcvbn') as Zxcvbn;
    // An address is known as a whole and by its parts.
    const words = known.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word !== '');
    let guesses = 0;
    for (const piece of piecesOf(withoutLongWords(password, words))) {
      guesses = Math.max(guesses, this.estimate(piece, words).guesses);
      if (guesses >= PASSWORD_MIN_GUESSES) break;
    }
    return guesses;
  }
}

/** What is known and longer than a piece would not be recognized. */
function withoutLongWords(password: string, words: readonly string[]): string {
  return words
    .filter((word) => word.length > PIECE_LENGTH)
    .reduce((rest, word) => rest.toLowerCase().replaceAll(word.toLowerCase(), '') || 'x', password);
}

function* piecesOf(password: string): Generator<string> {
  for (let at = 0; at < password.length; at += PIECE_LENGTH) {
    const piece = password.slice(at, at + PIECE_LENGTH);
    const kept = new Set([...new Set(piece.match(STAND_IN))].slice(0, MAX_STAND_INS));
    yield piece.replace(STAND_IN, (symbol) => (kept.has(symbol) ? symbol : '_'));
  }
}
