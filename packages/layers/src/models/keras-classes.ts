// Types in a circle: what one entry is, the table of the other ops says.
// The ops of functional models that Keras and `tf.keras.ops` have alike: their classes, the arguments of calls, and what objects hold.
import { camelCaseKeys } from '@eagre/core/internal';
import type { KerasOperation, Setting } from './keras-operations.ts';

// By Keras's files. Each line is a function of ours, Keras's class, the names of what its calls are given, and the names of what its objects hold
// with the values that stand for those that are not given. Without indentation they take less to load.
const FILES: Readonly<Record<string, string>> = {
  numpy: `
all All x axis=null keepdims=false
allclose AllClose x1,x2 rtol=1e-05 atol=1e-08 equal_nan=false
amax Amax x axis=null keepdims=false
amin Amin x axis=null keepdims=false
any Any x axis=null keepdims=false
append Append x1,x2 axis=null
arange Arange start,stop,step dtype=null
arccos Arccos x
arccosh Arccosh x
arcsin Arcsin x
arcsinh Arcsinh x
arctan Arctan x
arctan2 Arctan2 x1,x2
arctanh Arctanh x
argmax Argmax x axis=null keepdims=false
argmin Argmin x axis=null keepdims=false
argpartition Argpartition x kth axis=-1
argsort Argsort x axis=-1
array Array x dtype=null
arraySplit ArraySplit x indices_or_sections axis=0
average Average x,weights axis=null
bincount Bincount x weights=null minlength=0 sparse=false
cbrt Cbrt x
clip Clip x x_min x_max
concatenate Concatenate xs axis=0
corrcoef Corrcoef x
correlate Correlate x1,x2 mode="valid"
cos Cos x
cosh Cosh x
countNonzero CountNonzero x axis=null
cross Cross x1,x2 axisa=-1 axisb=-1 axisc=-1 axis=null
cumprod Cumprod x axis=null dtype=null
cumsum Cumsum x axis=null dtype=null
deg2rad Deg2rad x
diag Diag x k=0
diagflat Diagflat x k=0
diagonal Diagonal x offset=0 axis1=0 axis2=1
digitize Digitize x,bins
divide Divide x1,x2
dot Dot x1,x2
dsplit Dsplit x indices_or_sections
dstack Dstack xs
emptyLike EmptyLike x dtype=null
exp Exp x
exp2 Exp2 x
expm1 Expm1 x
fabs Fabs x
flip Flip x axis=null
fliplr Fliplr x
flipud Flipud x
fmax Fmax x1,x2
fmin Fmin x1,x2
fmod Fmod x1,x2
full Full fillValue shape dtype=null
fullLike FullLike x,fillValue dtype=null
gcd Gcd x1,x2
heaviside Heaviside x1,x2
histogram Histogram x bins=10 range=null
hsplit Hsplit x indices_or_sections
hstack Hstack xs
hypot Hypot x1,x2
i0 I0 x
inner Inner x1,x2
isin IsIn x1,x2 assume_unique=false invert=false
isclose Isclose x1,x2,rtol,atol equal_nan=false
isfinite Isfinite x
isinf Isinf x
isnan Isnan x
isneginf Isneginf x
isposinf Isposinf x
isreal Isreal x
kron Kron x1,x2
lcm Lcm x1,x2
ldexp Ldexp x1,x2
log Log x
log10 Log10 x
log1p Log1p x
log2 Log2 x
logaddexp Logaddexp x1,x2
logaddexp2 Logaddexp2 x1,x2
matmul Matmul x1,x2
max Max x axis=null keepdims=false initial=null
mean Mean x axis=null keepdims=false
median Median x axis=null keepdims=false
min Min x axis=null keepdims=false initial=null
moveaxis Moveaxis x source destination
nanToNum NanToNum x nan=0.0 posinf=null neginf=null
nanargmax Nanargmax x axis=null keepdims=false
nanargmin Nanargmin x axis=null keepdims=false
nancumprod Nancumprod x axis=null dtype=null
nancumsum Nancumsum x axis=null dtype=null
nanmax Nanmax x axis=null keepdims=false
nanmean Nanmean x axis=null keepdims=false
nanmedian Nanmedian x axis=null keepdims=false
nanmin Nanmin x axis=null keepdims=false
nanpercentile Nanpercentile x,q axis=null method="linear" keepdims=false
nanprod Nanprod x axis=null keepdims=false
nanquantile Nanquantile x,q axis=null method="linear" keepdims=false
nanstd Nanstd x axis=null keepdims=false
nansum Nansum x axis=null keepdims=false
nanvar Nanvar x axis=null keepdims=false
nextafter Nextafter x1,x2
nonzero Nonzero x
percentile Percentile x,q axis=null method="linear" keepdims=false
prod Prod x axis=null keepdims=false dtype=null
ptp Ptp x axis=null keepdims=false
quantile Quantile x,q axis=null method="linear" keepdims=false
rad2deg Rad2deg x
reciprocal Reciprocal x
repeat Repeat x repeats axis=null
reshape Reshape x newshape
roll Roll x shift axis=null
rot90 Rot90 array k=1 axes=[0,1]
round Round x decimals=0
searchsorted SearchSorted sortedSequence,values side="left"
select Select condlist,choicelist,default
signbit Signbit x
sin Sin x
sinc Sinc x
sinh Sinh x
size Size x
slogdet Slogdet x
split Split x indices_or_sections axis=0
sqrt Sqrt x
std Std x axis=null keepdims=false
sum Sum x axis=null keepdims=false
take Take x,indices axis=null
takeAlongAxis TakeAlongAxis x,indices axis=null
tan Tan x
tanh Tanh x
tensordot Tensordot x1,x2 axes=2
tile Tile x repeats
trace Trace x offset=0 axis1=0 axis2=1
transpose Transpose x axes=null
trapezoid Trapezoid y x=null dx=1.0 axis=-1
trueDivide TrueDivide x1,x2
trunc Trunc x
unique Unique x sorted=true return_index=false return_inverse=false return_counts=false axis=null size=null fill_value=null
unravelIndex UnravelIndex indices shape
vander Vander x N=null increasing=false
var Var x axis=null keepdims=false
vdot Vdot x1,x2
view View x dtype=null
vsplit Vsplit x indices_or_sections
vstack Vstack xs
where Where condition,x1,x2
`,
  nn: `
adaptiveAveragePool AdaptiveAveragePool inputs output_size data_format=null
adaptiveMaxPool AdaptiveMaxPool inputs output_size data_format=null
averagePool AveragePool inputs pool_size strides=null padding="valid" data_format=null
batchNormalization BatchNorm x,mean,variance,offset,scale axis epsilon=0.001
binaryCrossentropy BinaryCrossentropy target,output from_logits=false
categoricalCrossentropy CategoricalCrossentropy target,output from_logits=false axis=-1
celu Celu x alpha=1.0
conv Conv inputs,kernel strides=1 padding="valid" data_format=null dilation_rate=1
convTranspose ConvTranspose inputs,kernel strides=1 padding="valid" output_padding=null data_format=null dilation_rate=1
depthToSpace DepthToSpace x block_size data_format="channels_last"
depthwiseConv DepthwiseConv inputs,kernel strides=1 padding="valid" data_format=null dilation_rate=1
dotProductAttention DotProductAttention query,key,value,bias,mask,scale is_causal=false flash_attention=null attn_logits_soft_cap=null
fold Fold x output_size kernel_size dilation=1 padding=0 stride=1
gelu Gelu x approximate=true
glu Glu x axis=-1
hardShrink HardShrink x threshold=0.5
hardTanh HardTanh x
leakyRelu LeakyRelu x negative_slope=0.2
logSoftmax LogSoftmax x axis=-1
maxPool MaxPool inputs pool_size strides=null padding="valid" data_format=null
moments Moments x axes keepdims=false synchronized=false
multiHot MultiHot inputs num_classes=null axis=-1 dtype=null sparse=false
normalize Normalize x axis=-1 order=2 epsilon=null
oneHot OneHot x num_classes axis=-1 dtype=null sparse=false
psnr PSNR x1,x2 max_val
polar Polar abs,angle
rmsNormalization RMSNorm x,scale axis=-1 epsilon=null
separableConv SeparableConv inputs,depthwiseKernel,pointwiseKernel strides=1 padding="valid" data_format=null dilation_rate=1
softShrink SoftShrink x threshold=0.5
softmax Softmax x axis=-1
spaceToDepth SpaceToDepth x block_size data_format="channels_last"
sparseCategoricalCrossentropy SparseCategoricalCrossentropy target,output from_logits=false axis=-1
sparsePlus SparsePlus x
sparseSigmoid SparseSigmoid x
sparsemax Sparsemax x axis=-1
squareplus Squareplus x b=4
tanhShrink TanhShrink x
threshold Threshold x threshold default_value
unfold Unfold x kernel_size dilation=1 padding=0 stride=1
`,
  core: `
scatter Scatter indices,values shape
scatterUpdate ScatterUpdate inputs,indices,updates reduction=null
slice Slice inputs,startIndices shape
sliceUpdate SliceUpdate inputs,startIndices,updates
`,
  math: `
cdist CDist x,y
extractSequences ExtractSequences x sequence_length sequence_stride
fft FFT x
fft2 FFT2 x
ifft2 IFFT2 x
irfft IRFFT x fft_length=null
istft ISTFT x sequence_length sequence_stride fft_length length=null window="hann" center=true
inTopK InTopK targets,predictions k
logdet Logdet x
logsumexp Logsumexp x axis=null keepdims=false
rfft RFFT x fft_length=null
rsqrt Rsqrt x
stft STFT x sequence_length sequence_stride fft_length window="hann" center=true
segmentMax SegmentMax data,segmentIds num_segments=null sorted=false
segmentMin SegmentMin data,segmentIds num_segments=null sorted=false
segmentProd SegmentProd data,segmentIds num_segments=null sorted=false
segmentSum SegmentSum data,segmentIds num_segments=null sorted=false
topK TopK x k sorted=true
viewAsComplex ViewAsComplex x
viewAsReal ViewAsReal x
`,
  linalg: `
cholesky Cholesky x upper=false
choleskyInverse CholeskyInverse x upper=false
det Det x
eigh Eigh x
inv Inv x
lstsq Lstsq a,b rcond=null
luFactor LuFactor x
matrixRank MatrixRank x tol=null
norm Norm x ord=null axis=null keepdims=false
pinv Pinv x rcond=null
qr Qr x mode="reduced"
svd SVD x full_matrices=true compute_uv=true
solve Solve a,b
solveTriangular SolveTriangular a,b lower=false
`,
  image: `
image.affineTransform AffineTransform images,transform interpolation="bilinear" fill_mode="constant" fill_value=0 data_format=null
image.cropImages CropImages images top_cropping=null left_cropping=null bottom_cropping=null right_cropping=null target_height=null target_width=null data_format=null
image.extractPatches ExtractPatches images size strides=null dilation_rate=1 padding="valid" data_format=null
image.extractPatches3d ExtractPatches volumes size strides=null dilation_rate=1 padding="valid" data_format=null
image.gaussianBlur GaussianBlur images kernel_size=[3,3] sigma=[1.0,1.0] data_format=null
image.hsvToRgb HSVToRGB images data_format=null
image.mapCoordinates MapCoordinates inputs,coordinates order fill_mode="constant" fill_value=0
image.padImages PadImages images top_padding=null left_padding=null bottom_padding=null right_padding=null target_height=null target_width=null data_format=null
image.perspectiveTransform PerspectiveTransform images,startPoints,endPoints interpolation="bilinear" fill_value=0 data_format=null
image.rgbToGrayscale RGBToGrayscale images data_format=null
image.rgbToHsv RGBToHSV images data_format=null
image.resize Resize images size interpolation="bilinear" antialias=false crop_to_aspect_ratio=false pad_to_aspect_ratio=false fill_mode="constant" fill_value=0.0 data_format=null
image.ssim SSIM image1,image2 max_val=1.0 filter_size=11 filter_sigma=1.5 k1=0.01 k2=0.03 data_format=null
image.scaleAndTranslate ScaleAndTranslate images,outputShape,scale,translation spatial_dims method antialias=true
image.sobelEdges SobelEdges images data_format=null
`,
};

/** All of them, in the order of the lines. */
export function* kerasClasses(): Generator<KerasOperation> {
  for (const [file, lines] of Object.entries(FILES))
    for (const line of lines.trim().split('\n')) {
      const [name, className, inputs, ...held] = line.trim().split(' ');
      const settings: Record<string, Setting> = {};
      for (const setting of held) {
        const at = setting.indexOf('=');
        const key = at < 0 ? setting : setting.slice(0, at);
        const [of] = Object.keys(camelCaseKeys({ [key]: 0 }));
        settings[key] = { of, otherwise: at < 0 ? null : (JSON.parse(setting.slice(at + 1)) as unknown) };
      }
      yield {
        op: `keras.${name}`,
        module: `keras.src.ops.${file}`,
        className,
        inputs: inputs.split(','),
        settings,
      };
    }
}
