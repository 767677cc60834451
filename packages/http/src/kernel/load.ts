/**
 * How far the process is from its limits. `busy`: anonymous requests are refused; `overloaded`: expensive ones too, so that
 * what people do most goes on.
 */
export type LoadLevel = 'normal' | 'busy' | 'overloaded';

/** What requests are shed by. */
export interface LoadGauge {
  readonly level: LoadLevel;
}

export const noLoad: LoadGauge = { level: 'normal' };
