// How wide texts are in Helvetica, about: the fonts of viewers differ.
const NARROW = /[iljtfrI.,:;'|!()[\]/\\ -]/;
const WIDE = /[mwMW@%…]/;

/** The width of a text, rather too much than too little. */
export function textWidth(text: string, size: number, bold: boolean): number {
  let ems = 0;
  for (const c of text) {
    if (NARROW.test(c)) ems += 0.36;
    else if (WIDE.test(c)) ems += 0.94;
    else if (/[A-Z]/.test(c)) ems += 0.72;
    // What is not of the Latin alphabet may be as wide as it is high.
    else ems += c.charCodeAt(0) < 0x250 ? 0.58 : 1;
  }
  return ems * size * (bold ? 1.18 : 1.05);
}
