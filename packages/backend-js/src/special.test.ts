import { describe, expect, it } from 'vitest';
import {
  digamma,
  erf,
  erfc,
  erfinv,
  floorMod,
  lgamma,
  power,
  roundHalfEven,
  sigmoid,
  softplus,
} from './special.ts';

/** Pairs of argument and value; the values are mpmath's at 50 digits. */
const known: [string, (x: number) => number, [number, number][]][] = [
  [
    'erf',
    erf,
    [
      [1e-10, 1.1283791670955126e-10],
      [0.1, 0.1124629160182849],
      [0.46, 0.4846553900016797],
      [0.47, 0.4937450508860821],
      [0.5, 0.5204998778130465],
      [1, 0.8427007929497149],
      [2, 0.9953222650189527],
      [3.9, 0.9999999652077514],
      [4.1, 0.9999999932999724],
      [-0.3, -0.3286267594591274],
      [-1, -0.8427007929497149],
    ],
  ],
  [
    'erfc',
    erfc,
    [
      [0.3, 0.6713732405408726],
      [0.5, 0.4795001221869535],
      [1, 0.15729920705028513],
      [2, 0.004677734981047266],
      [4, 1.541725790028002e-8],
      [5, 1.537459794428035e-12],
      [10, 2.088487583762545e-45],
      [20, 5.395865611607901e-176],
      [26, 5.663192408856143e-296],
      [-1, 1.8427007929497148],
    ],
  ],
  [
    'erfinv',
    erfinv,
    [
      [1e-12, 8.86226925452758e-13],
      [0.1, 0.08885599049425769],
      [0.5, 0.4769362762044699],
      [0.85, 1.0179024648320276],
      [0.86, 1.0435418436397588],
      [0.9, 1.1630871536766743],
      [0.99, 1.8213863677184494],
      [0.999999, 3.458910737275499],
      [-0.7, -0.7328690779592167],
      [1 - 2 ** -53, 5.8635847487551676],
    ],
  ],
  [
    'lgamma',
    lgamma,
    [
      [1e-5, 11.512919692895826],
      [0.1, 2.252712651734206],
      [0.5, 0.5723649429247001],
      [0.9, 0.06637623973474295],
      [0.999999, 5.772164873855652e-7],
      [1.0001, -5.771334222047127e-5],
      [1.4, -0.1196129141723713],
      [1.5, -0.12078223763524522],
      [1.999, -4.224618006921073e-4],
      [2.001, 4.23106734800117e-4],
      [2.5, 0.2846828704729192],
      [3.7, 1.428072326665388],
      [9.9, 12.57717990421988],
      [10, 12.801827480081469],
      [50, 144.5657439463449],
      [1e5, 1051287.7089736569],
      [1e20, 4.505170185988091e21],
      [-0.5, 1.2655121234846454],
      [-1.5, 0.860047015376481],
      [-3.7, -1.3797399049658245],
    ],
  ],
  [
    'digamma',
    digamma,
    [
      [1e-4, -10000.577051183514],
      [0.1, -10.423754940411076],
      [0.5, -1.9635100260214235],
      [1, -0.5772156649015329],
      [1.2, -0.2890398965921884],
      [1.4, -0.06138454458511624],
      [1.46, -0.0015805619870834522],
      [1.4616, -3.110625123034165e-5],
      [1.5, 0.03648997397857652],
      [1.7, 0.2085478748734939],
      [1.9, 0.35618416116405965],
      [2, 0.42278433509846713],
      [5, 1.5061176684318005],
      [9.9, 2.2411803166063815],
      [30, 3.384438132685525],
      [1e6, 13.815510057964191],
      [-0.5, 0.03648997397857652],
      [-1.3, 2.8825405488661673],
      [-3.7, -0.8450768588704194],
    ],
  ],
];

describe('special functions', () => {
  it.each(known)('%s has known values', (_name, f, pairs) => {
    for (const [x, y] of pairs) expect(Math.abs(f(x) / y - 1), `at ${x}: ${f(x)}`).toBeLessThan(1e-14);
  });

  it('agree with one another', () => {
    for (let x = -5; x <= 5; x += 0.0625) {
      expect(erf(x) + erfc(x)).toBeCloseTo(1, 14);
      expect(erf(-x)).toBe(-erf(x));
      if (Math.abs(x) < 3) expect(erfinv(erf(x))).toBeCloseTo(x, 10);
      if (x % 1 !== 0) {
        expect(lgamma(x + 1) - lgamma(x) - Math.log(Math.abs(x))).toBeCloseTo(0, 13);
        expect(digamma(x + 1) - digamma(x) - 1 / x).toBeCloseTo(0, 12);
      }
    }
  });

  it('hold at the ends', () => {
    expect([erf(Infinity), erf(-Infinity), erfc(30), erfc(-30)]).toEqual([1, -1, 0, 2]);
    expect([erfinv(1), erfinv(-1), erfinv(1.5), erfinv(0)]).toEqual([Infinity, -Infinity, NaN, 0]);
    expect([lgamma(1), lgamma(2), lgamma(0), lgamma(-2)]).toEqual([0, 0, Infinity, Infinity]);
    expect([lgamma(Infinity), lgamma(-Infinity), digamma(Infinity)]).toEqual([Infinity, Infinity, Infinity]);
    expect([digamma(0), digamma(-4), digamma(-Infinity)]).toEqual([NaN, NaN, NaN]);
    for (const [, f] of known) expect(f(NaN)).toBeNaN();
    expect([sigmoid(-800), sigmoid(0), sigmoid(800)]).toEqual([0, 0.5, 1]);
    expect(sigmoid(-700)).toBe(Math.exp(-700));
    expect([softplus(-Infinity), softplus(1000), softplus(0)]).toEqual([0, 1000, Math.LN2]);
    expect([sigmoid(NaN), softplus(NaN)]).toEqual([NaN, NaN]);
  });

  it('round half to even, with the sign of zero', () => {
    const cases = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994, 2 ** 52 + 1, -0, Infinity, NaN];
    expect(cases.map(roundHalfEven)).toEqual([0, 2, 2, -0, -2, -2, 0, 2 ** 52 + 1, -0, Infinity, NaN]);
  });

  it('take remainders with the sign of the divisor', () => {
    expect([floorMod(7, 3), floorMod(-7, 3), floorMod(7, -3), floorMod(-7, -3)]).toEqual([1, 2, -2, -1]);
    expect([floorMod(5.5, 2), floorMod(1, 0), floorMod(1, Infinity)]).toEqual([1.5, NaN, 1]);
  });

  it('raise to powers as IEEE 754 does', () => {
    expect([power(1, NaN), power(-1, Infinity), power(1, -Infinity), power(NaN, 0)]).toEqual([1, 1, 1, 1]);
    expect([power(2, 10), power(-8, 1 / 3), power(0, -1)]).toEqual([1024, NaN, Infinity]);
  });
});
